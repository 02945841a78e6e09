// Runs Jobs to completion.
#pragma once

#include <map>
#include <string>

#include "local/controllers/job_plan.hpp"
#include "local/controllers/pod_owner.hpp"

namespace plim::local::controllers {

// Keys are Jobs, or kOrphan and a pod whose Job is gone and whose finalizer has to be removed.
class JobController final : public PodOwnerController {
 public:
  explicit JobController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;
  Task<Result<void>> release_orphan(std::string pod_key);
  Task<Result<void>> carry_out(ObjectPointer job, JobPlan plan);
  Task<std::optional<Error>> give_up(Parent parent, std::vector<PodPointer> pods);
  Task<std::optional<Error>> drop_finalizers(std::vector<PodPointer> pods);
  Task<void> drop_finalizer(PodPointer pod, std::shared_ptr<std::optional<Error>> error);
  void look_for_orphan(const PodPointer& pod);

  std::map<std::string, JobBackoff> backoffs_;
};

}  // namespace plim::local::controllers
