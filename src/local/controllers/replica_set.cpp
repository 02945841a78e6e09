#include "local/controllers/replica_set.hpp"

#include <algorithm>

#include "local/controllers/pod_questions.hpp"
#include "local/controllers/replica_set_plan.hpp"

namespace plim::local::controllers {

ReplicaSetController::ReplicaSetController(const ControllerContext& context)
    : PodOwnerController(context,
                         {.name = "replicaset-controller", .component = "replicaset-controller"},
                         kube::resources::replica_sets) {}

Task<Result<void>> ReplicaSetController::reconcile(std::string key) {
  ObjectPointer set = owners_.find(key);
  if (!set) co_return Result<void>();
  const json::value* wanted = kube::find(set->json, "ReplicaSet.spec.selector");
  const json::value none;
  auto selector = kube::LabelSelector::from_json(wanted ? *wanted : none);
  if (!selector) co_return Result<void>();  // the user has to fix it first
  // Ask before reading the pods: an expected pod may arrive in between.
  const bool current = expectations_.satisfied(key);
  const bool deleting = set->meta.deleted.has_value();
  PLIM_CO_TRY(std::vector<PodPointer> pods,
              co_await claim_pods(Parent(kind_, set->meta), std::move(*selector), deleting));
  const auto terminating =
      std::ranges::count_if(pods, [](const PodPointer& pod) { return is_terminating(*pod); });
  std::erase_if(pods, [](const PodPointer& pod) { return !is_active(*pod); });

  std::optional<Error> trouble;
  if (current && !deleting) trouble = co_await manage(set, pods);
  const WallTime now = clock_.wall();
  ReplicaCounts counts = count_replicas(set->json, pods, now);
  counts.terminating = terminating;
  json::value status = replica_set_status(*set, counts, trouble, now);
  PLIM_CO_TRY([[maybe_unused]] bool changed, co_await write_status(kind_, set, std::move(status)));
  if (counts.next_available) enqueue_after(key, *counts.next_available - now);
  if (trouble) co_return std::move(*trouble);
  co_return Result<void>();
}

Task<std::optional<Error>> ReplicaSetController::manage(ObjectPointer set,
                                                        std::vector<PodPointer> active) {
  const Parent parent(kind_, set->meta);
  const std::int64_t wanted = kube::int_at(set->json, "ReplicaSet.spec.replicas").value_or(1);
  std::vector<PodPointer> related;  // needed only to delete pods
  if (static_cast<std::int64_t>(active.size()) > wanted) related = related_pods(*set, active);
  const ReplicaPlan plan = plan_replicas(wanted, active, related, clock_.wall());
  if (plan.create > 0) {
    const json::value* pod_template = kube::find(set->json, "ReplicaSet.spec.template");
    std::vector<json::value> pods(
        plan.create, pod_from_template(pod_template ? *pod_template : json::value(), parent));
    Outcome outcome = co_await create_pods(parent, std::move(pods));
    if (outcome.error && is_namespace_terminating(*outcome.error)) outcome.error.reset();
    co_return outcome.error;
  }
  std::vector<PodPointer> surplus = plan.remove;
  Outcome outcome = co_await delete_pods(parent, std::move(surplus));
  co_return outcome.error;
}

std::vector<PodPointer> ReplicaSetController::related_pods(const Object& set,
                                                           std::vector<PodPointer> own) const {
  const kube::Owner* owner = controller_of(set.meta);
  if (!owner) return own;
  std::vector<PodPointer> out;
  for (const ObjectPointer& sibling : owners_.controlled_by(owner->uid))
    for (PodPointer& pod : pods_.controlled_by(sibling->meta.uid)) out.push_back(std::move(pod));
  return out;
}

}  // namespace plim::local::controllers
