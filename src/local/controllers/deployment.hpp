// Rolls the pods of each Deployment from one template to the next, using ReplicaSets.
#pragma once

#include "local/controllers/controller.hpp"
#include "local/controllers/deployment_plan.hpp"

namespace plim::local::controllers {

class DeploymentController final : public Controller {
 public:
  explicit DeploymentController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;
  Task<Result<std::vector<ObjectPointer>>> claim_sets(ObjectPointer deployment);
  Task<Result<void>> carry_out(ObjectPointer deployment, DeploymentPlan plan);
  // The name of `set` is taken: the cache lacks the set, or a set of another template has it.
  Task<Result<void>> resolve_collision(ObjectPointer deployment, json::value set);
  Task<void> note_failure(ObjectPointer deployment, std::string message);
  Task<Result<void>> write_status(ObjectPointer deployment, json::value status,
                                  std::string revision);

  void set_changed(const ObjectPointer& set);
  void pod_gone(const kube::Pod& pod);
  bool old_pods_running(const std::vector<ObjectPointer>& sets,
                        const json::value& pod_template) const;

  ObjectCache& deployments_;
  ObjectCache& sets_;
  PodCache& pods_;
};

}  // namespace plim::local::controllers
