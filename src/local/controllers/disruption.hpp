// Maintains the status of PodDisruptionBudgets, which evictions respect.
#pragma once

#include <string>

#include "local/controllers/controller.hpp"
#include "local/controllers/disruption_plan.hpp"
#include "local/controllers/pod_groups.hpp"

namespace plim::local::controllers {

class DisruptionController final : public Controller {
 public:
  explicit DisruptionController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;
  std::int64_t expected_pods(const std::vector<PodPointer>& pods) const;
  void budget_changed(const ObjectPointer& budget);

  ObjectCache& budgets_;
  ObjectCache& replica_sets_;
  ObjectCache& deployments_;
  PodGroups groups_;
};

}  // namespace plim::local::controllers
