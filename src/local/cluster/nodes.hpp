// The process nodes of a cluster: started together, added and removed one by one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/cluster/directories.hpp"
#include "local/cluster/keys.hpp"
#include "local/cluster/process_node.hpp"
#include "local/kubelet/runtime/process_events.hpp"

namespace plim::local::cluster {

// A node with a name other than n1, n2, …
struct NamedNode {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<kubelet::NodeTaint> taints = {};
};

struct NodesOptions {
  int count = 3;  // n1, n2, n3; nodes that were added later are remembered
  std::vector<NamedNode> named = {};
  std::string version;
  std::string api_url = {};
  std::shared_ptr<const images::ImageCatalog> catalog;
  images::PullOptions pulls = {};
  kubelet::CgroupDriver cgroup_driver = kubelet::CgroupDriver::cgroupfs;
  std::map<std::string, std::string> cpus = {};  // by node: "0-3"; others share all
  kubelet::Isolation isolation = kubelet::Isolation::automatic;
  int max_images = 50;
  bool annotate_runs = false;
  MirrorPods* mirrors = nullptr;  // nodes serve the logs of these too
};

// Belongs to one loop; co_await stop() before destroying it.
class ClusterNodes {
 public:
  using Names = std::vector<std::string>;

  ClusterNodes(Executor loop, Clock& clock, apiserver::ApiServer& api, const ClusterKeys& keys,
               const ClusterDirectories& directories, NodesOptions options);

  // Starts all at once; completes when all are Ready. Deletes nodes of earlier runs.
  Task<Result<void>> start();
  // Pods end with their grace period.
  Task<void> stop();

  // Without names, adds the next free ones. These functions return the nodes that they changed.
  Task<Result<Names>> add(Names names, int count);
  Task<Result<Names>> remove(Names names);
  // Like pulling the plug: processes end, and the API is not updated. power_on() undoes it.
  Task<Result<Names>> power_off(Names names);
  Task<Result<Names>> power_on(Names names);
  // Changes all running nodes if `nodes` is empty.
  enum class ImageChange { load, remove, pull };
  Task<Result<Names>> change_image(ImageChange change, std::string image, Names nodes);

  std::size_t size() const { return nodes_.size(); }

  // None if the node is not here, or stopped.
  std::optional<node::NodeUsage> usage(std::string_view node);
  std::string without_cgroups() const;  // why a node has no cgroups, for messages; "" if all have
  json::value list() const;
  // The element of list() that shows roles of the whole cluster: the first named node, else the
  // first by number. Null without nodes.
  json::value first() const;

 private:
  ProcessNodeOptions options_for(const std::string& name, int index);
  Result<ProcessNode*> make(const std::string& name);
  Result<std::vector<ProcessNode*>> find(const Names& names);
  int free_index(std::string_view name) const;
  bool is_named(std::string_view name) const;
  Task<Result<void>> start_all(std::vector<ProcessNode*> nodes);
  Task<void> delete_old_nodes();
  Result<void> remember() const;
  Names remembered() const;

  Executor loop_;
  Clock& clock_;
  apiserver::ApiServer& api_;
  const ClusterKeys& keys_;
  const ClusterDirectories& directories_;
  NodesOptions options_;
  std::shared_ptr<kube::Client> client_;
  kubelet::ProcessEvents process_events_;
  std::map<std::string, std::unique_ptr<ProcessNode>, std::less<>> nodes_;
  TaskGroup tasks_, stopping_;
};

}  // namespace plim::local::cluster
