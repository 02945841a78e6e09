// Keeps the number of pods that each ReplicaSet wants.
#pragma once

#include "local/controllers/pod_owner.hpp"

namespace plim::local::controllers {

class ReplicaSetController final : public PodOwnerController {
 public:
  explicit ReplicaSetController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;
  // Creates or deletes pods; the caller writes the error to the status.
  Task<std::optional<Error>> manage(ObjectPointer set, std::vector<PodPointer> active);
  // The pods of all ReplicaSets of the same Deployment.
  std::vector<PodPointer> related_pods(const Object& set, std::vector<PodPointer> own) const;
};

}  // namespace plim::local::controllers
