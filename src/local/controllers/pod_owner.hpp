// What ReplicaSets, DaemonSets and Jobs have in common: they own pods.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "local/controllers/controller.hpp"
#include "local/controllers/expectations.hpp"

namespace plim::local::controllers {

// A pod as `parent` makes it from its template: named after the parent, controlled by it.
json::value pod_from_template(const json::value& pod_template, const Parent& parent);

// Belongs to one loop, like every controller.
class PodOwnerController : public Controller {
 public:
  PodOwnerController(const ControllerContext& context, ControllerIdentity identity,
                     const kube::Resource& kind);

 protected:
  struct Outcome {
    std::size_t done = 0;
    std::optional<Error> error = {};  // the first one
  };

  // In batches of 1, 2, 4 …, so that a quota that refuses the first is not asked a thousand times.
  // The creations are expected first; those that fail or are not tried count as observed.
  Task<Outcome> create_pods(Parent parent, std::vector<json::value> pods);
  Task<Outcome> delete_pods(Parent parent, std::vector<PodPointer> pods);

  // The pods that are the parent's, adopting and releasing on the way.
  Task<Result<std::vector<PodPointer>>> claim_pods(Parent parent, kube::LabelSelector selector,
                                                   bool parent_deleting);

  // A pod of the owner with this key came, changed or went; it is queued anyway. `before` is null
  // for new pods, `now` for those that are gone.
  virtual void pod_changed(const std::string& key, const PodPointer& before, const PodPointer& now);

  // The owner of this kind that the pod's controller reference names, null if it is another's.
  ObjectPointer owner_of(const kube::Pod& pod) const;

  const kube::Resource kind_;
  ObjectCache& owners_;
  PodCache& pods_;
  Expectations expectations_;

 private:
  Task<void> create_one(Parent parent, json::value pod, std::shared_ptr<Outcome> outcome);
  Task<void> delete_one(Parent parent, PodPointer pod, std::shared_ptr<Outcome> outcome);

  void on_add(const PodPointer& pod);
  void on_update(const PodPointer& before, const PodPointer& now);
  void on_gone(const PodPointer& before, const PodPointer& now);
  void enqueue_matching(const kube::Pod& pod);
};

}  // namespace plim::local::controllers
