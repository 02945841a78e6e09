// This node and its pods, as watched from the API server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"
#include "pools/node_view.hpp"
#include "pools/pool_config.hpp"

namespace plim::pools {

// Belongs to one loop; co_await stop() before destroying it.
class ClusterView {
 public:
  struct Hooks {
    std::function<void()> on_pods;  // a pod of the node was added, changed or deleted
    std::function<void()> on_node;  // the node has changed
  };

  ClusterView(const Executor& loop, const std::shared_ptr<kube::Client>& client,
              std::string node_name, const Hooks& hooks, Clock& clock);

  void start();
  Task<void> stop();
  Task<void> wait_synced();
  std::string not_synced() const;  // a message that says what is missing; "": nothing

  std::shared_ptr<const kube::Node> node() const;  // null: not known yet
  NodeLabels labels() const;
  std::shared_ptr<const kube::Pod> find_pod(std::string_view key) const;  // "namespace/name"
  std::vector<PodFacts> pods(const BaseNames& bases) const;

 private:
  std::string node_name_;
  kube::InternPool intern_;
  kube::Informer<kube::Pod> pods_;
  kube::Informer<kube::Node> node_;
};

}  // namespace plim::pools
