// Detects nodes that stopped reporting, taints them, and evicts pods from tainted nodes.
#pragma once

#include <map>
#include <string>

#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

// Uses only our own clock: a node counts as alive from the moment we see its lease or its readiness
// change, whatever its clock says. Keys are nodes.
class NodeLifecycleController final : public Controller {
 public:
  NodeLifecycleController(const ControllerContext& context, Nanos grace);

 private:
  Task<Result<void>> reconcile(std::string name) override;
  Task<Result<void>> mark_silent(std::string name);
  Task<Result<void>> mark_pods_unready(std::string node);
  Task<Result<void>> set_taints(std::string name);
  void alive(const std::string& name);

  Nanos grace_;
  Cache<kube::Node>& nodes_;
  PodCache& pods_;
  ObjectCache& leases_;
  std::map<std::string, SteadyTime> seen_;
};

// Deletes pods that do not tolerate the NoExecute taints of their node, or no longer do. Keys are
// pods.
class TaintEvictionController final : public Controller {
 public:
  explicit TaintEvictionController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;
  void node_changed(const NodePointer& node);

  Cache<kube::Node>& nodes_;
  PodCache& pods_;
  std::map<std::string, SteadyTime> tainted_since_;  // by node
};

}  // namespace plim::local::controllers
