// A whole local cluster in this process: store, API server, controllers, scheduler, nodes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/apiserver/admission/admission_webhooks.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/crd/custom_resources.hpp"
#include "local/cluster/control.hpp"
#include "local/cluster/directories.hpp"
#include "local/cluster/front.hpp"
#include "local/cluster/keys.hpp"
#include "local/cluster/mirror_pods.hpp"
#include "local/cluster/nodes.hpp"
#include "local/cluster/usage_metrics.hpp"
#include "local/controllers/controllers.hpp"
#include "local/controllers/pod_scheduler.hpp"
#include "local/sim/simulator.hpp"
#include "local/store/store.hpp"
#include "net/server.hpp"

namespace plim::local::cluster {

struct ClusterOptions {
  ClusterDirectories directories = {};
  std::optional<FrontAddress> listen = {};  // none: loopback, the port of the last run
  std::vector<std::string> server_names = {};
  std::string kubeconfig = {};  // "": in the state directory
  std::string merge_into = {};  // a kubeconfig file of the user; "" for none
  Durability durability = Durability::fsync;
  std::uint64_t max_objects_bytes = 0;  // rejects writes beyond this; 0: no limit
  std::vector<std::string> controllers = controllers::controller_names();
  bool scheduler = true;
  NodesOptions nodes = {};
  int simulated_nodes = 0;              // sim-1, sim-2, …; the API can create more
  std::vector<sim::Stage> stages = {};  // stages of simulated pods and nodes
  SteadyTime began = {};                // milestones count from this time
  std::function<void(std::string what, Nanos after)> milestone = {};  // called at each
};

// Belongs to one loop; co_await stop() before destroying it.
class Cluster {
 public:
  Cluster(Executor loop, Clock& clock, ClusterOptions options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Completes when everything is ready. Code::already_exists: another process runs the cluster.
  // Call stop() after a failure too.
  Task<Result<void>> start();
  // Stops what would start new pods first, then the nodes with their pods, the API and its store.
  Task<void> stop();

  const std::string& url() const { return url_; }

  const std::string& kubeconfig() const { return options_.kubeconfig; }

  apiserver::ApiServer& api() { return *api_; }

  ClusterNodes& nodes() { return *nodes_; }

  MirrorPods& mirrors() { return *mirrors_; }

  Task<json::value> status();

 private:
  Result<void> take_place();
  Result<void> open_store();
  Result<void> listen();
  Result<void> write_files();
  void start_controllers();
  Task<Result<void>> start_nodes();
  Task<Result<void>> start_simulator();
  void reached(std::string what);

  Executor loop_;
  Clock& clock_;
  ClusterOptions options_;
  std::string url_;
  Nanos ready_after_{0};
  WallTime started_{};

  std::optional<FileLock> lock_;
  ClusterKeys keys_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<apiserver::CustomResources>
      custom_resources_;  // the server uses both: destroyed after it
  std::unique_ptr<apiserver::AdmissionWebhooks> webhooks_;
  std::unique_ptr<apiserver::ApiServer> api_;
  std::shared_ptr<kube::Client> client_;  // authenticated as an administrator
  std::unique_ptr<net::Server> front_;
  std::unique_ptr<controllers::Controllers> controllers_;
  std::unique_ptr<controllers::PodScheduler> scheduler_;
  std::unique_ptr<MirrorPods> mirrors_;
  std::optional<UsageMetrics> metrics_;
  std::unique_ptr<ClusterNodes> nodes_;
  std::unique_ptr<sim::Simulator> simulator_;
  std::unique_ptr<Control> control_;
};

}  // namespace plim::local::cluster
