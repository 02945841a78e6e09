// Runs a pod of each DaemonSet on every matching node.
#pragma once

#include <map>
#include <string>

#include "local/controllers/daemon_set_plan.hpp"
#include "local/controllers/pod_owner.hpp"

namespace plim::local::controllers {

class DaemonSetController final : public PodOwnerController {
 public:
  explicit DaemonSetController(const ControllerContext& context);

 private:
  struct Retry {
    Nanos delay{0};
    WallTime from;
  };

  Task<Result<void>> reconcile(std::string key) override;
  // Ensures that a ControllerRevision of the current template exists; returns its hash.
  Task<Result<std::string>> ensure_revision(ObjectPointer set);
  Task<Result<void>> drop_old_revisions(ObjectPointer set, std::string current);
  Task<Result<void>> carry_out(ObjectPointer set, DaemonInput input, DaemonPlan plan);
  void enqueue_all();

  Cache<kube::Node>& nodes_;
  ObjectCache& revisions_;
  std::map<std::string, std::map<std::string, Retry>> retries_;  // by key, by node
};

}  // namespace plim::local::controllers
