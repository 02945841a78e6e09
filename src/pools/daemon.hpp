// The pools module of a node: serves device plugins to the kubelet and sets cpusets of containers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "pools/cluster_view.hpp"
#include "pools/config_maps.hpp"
#include "pools/directory_watch.hpp"
#include "pools/kubelet_records.hpp"
#include "pools/node_view.hpp"
#include "pools/plugins.hpp"
#include "pools/pool_config.hpp"
#include "pools/pool_events.hpp"
#include "pools/pools_metrics.hpp"
#include "pools/setter.hpp"

namespace plim::pools {

struct DaemonOptions {
  std::vector<std::string> config;            // directories or files
  std::vector<std::string> config_maps = {};  // "namespace/name", read from the API server
  std::string node_name;
  std::string host_root = "/";
  std::string kubelet_dir = "/var/lib/kubelet";
  std::string cgroup_root = {}, cpuset_root = {};
  Nanos interval = std::chrono::seconds(5);
  CpuListFormat format = CpuListFormat::list;
  std::string starter = {};  // program on the host to mount into containers with a pool
  bool plugin = true, setter = true;
  bool strict = false, dry_run = false, node_report = false;
  std::string cpu_manager_policy = {};  // of the kubelet; "static": a flag asked to run anyway
  bool annotate = false;                // annotate pods whose CPUs are set, as CPU-Pooler did
};

// Belongs to one loop; co_await stop() before destroying it.
class Daemon {
 public:
  // `on_fatal` is called at most once, if the daemon cannot continue: the configuration is invalid
  // at the start.
  Daemon(const Executor& loop, DaemonOptions options, std::shared_ptr<kube::Client> client,
         metrics::Registry& registry, std::function<void(Error)> on_fatal, Clock& clock);
  ~Daemon();

  Result<void> start();
  Task<void> stop();
  // Reads the configuration again, as after SIGHUP.
  void reload();

  bool ready() const;
  std::string not_ready() const;  // the reason, for users
  json::value state() const;

 private:
  Result<void> make_setter();
  void announce(const LiveContainer& container, const CpusetTarget& target);
  void make_plugins();
  void follow_cluster();
  Task<void> run();
  Task<void> follow_directories();
  Task<void> follow_online();
  Task<void> follow_config();
  Task<void> publish();
  Task<void> annotate();
  // False: the files have mistakes, which were reported. The old configuration stays.
  bool configure();
  Result<std::vector<ConfigText>> read_texts() const;
  void warn_of_double_booking();
  bool reload_if_changed();
  bool learn_bases(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                   const std::vector<ContainerCgroup>& cgroups);
  Task<void> reconcile();
  void wake();
  std::string environment_of(const std::string& cgroup) const;

  Executor loop_;
  DaemonOptions options_;
  std::shared_ptr<kube::Client> client_;
  std::function<void(Error)> on_fatal_;
  Clock& clock_;
  PoolState state_;
  PoolsMetrics metrics_;
  Topology topology_;
  std::unique_ptr<ClusterView> cluster_;  // this and the next are null without a client
  std::unique_ptr<ConfigMaps> maps_;
  PoolEvents events_;
  std::unique_ptr<KubeletRecords> records_;
  std::unique_ptr<Setter> setter_;
  std::unique_ptr<Plugins> plugins_;
  std::unique_ptr<DirectoryWatch> directories_;
  std::vector<ConfigText> texts_;   // as last read
  NodeLabels labels_;               // as last used
  std::set<std::string> confined_;  // pods to annotate, "namespace/name"
  bool configured_ = false, reconciled_ = false, dirty_ = false;
  std::string problem_;
  Nanos retry_{0};
  bool young_ = false;  // a new container has no name yet
  Event wake_, changed_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::pools
