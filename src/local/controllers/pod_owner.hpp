// What the controllers of ReplicaSets, DaemonSets and Jobs share: they own pods.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "local/controllers/controller.hpp"
#include "local/controllers/expectations.hpp"

namespace plim::local::controllers {

// A pod from the template of `parent`: named after the parent and controlled by it.
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

  // Creates in batches of 1, 2, 4 …, so that a quota that rejects the first is not asked a thousand
  // times. Registers expectations first; pods that fail or are not tried count as observed.
  Task<Outcome> create_pods(Parent parent, std::vector<json::value> pods);
  Task<Outcome> delete_pods(Parent parent, std::vector<PodPointer> pods);

  // The pods that belong to the parent; adopts and releases pods where needed.
  Task<Result<std::vector<PodPointer>>> claim_pods(Parent parent, kube::LabelSelector selector,
                                                   bool parent_deleting);

  // Called when a pod of the owner with this key was added, changed or deleted; the key is enqueued
  // in any case. `before` is null for new pods, `now` for deleted ones.
  virtual void pod_changed(const std::string& key, const PodPointer& before, const PodPointer& now);

  // The owner of our kind that the pod's controller reference names; null if it is of another kind.
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
