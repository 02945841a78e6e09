#include "local/controllers/disruption.hpp"

#include <map>

#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

bool same_for_budgets(const kube::Pod& a, const kube::Pod& b) {
  return is_ready(a) == is_ready(b) && a.meta.deleted.has_value() == b.meta.deleted.has_value();
}

}  // namespace

DisruptionController::DisruptionController(const ControllerContext& context)
    : Controller(context, {.name = "disruption-controller", .component = "controllermanager"}),
      budgets_(context.informers.objects(kinds::pod_disruption_budgets)),
      replica_sets_(context.informers.objects(kube::resources::replica_sets)),
      deployments_(context.informers.objects(kube::resources::deployments)),
      groups_(context.informers.pods(), same_for_budgets,
              [this](const std::string& key) { enqueue(key); }) {
  budgets_.informer.add_handlers(
      {.on_add = [this](const ObjectPointer& budget) { budget_changed(budget); },
       .on_update = [this](const ObjectPointer&, const ObjectPointer& now) { budget_changed(now); },
       .on_delete =
           [this](const ObjectPointer& last) { groups_.erase(kube::object_key(last->meta)); }});
  // Percentages refer to the replicas that the controllers want.
  auto scaled = [this](const ObjectPointer& before, const ObjectPointer& now) {
    if (kube::int_at(before->json, "ReplicaSet.spec.replicas") ==
        kube::int_at(now->json, "ReplicaSet.spec.replicas"))
      return;
    for (const ObjectPointer& budget : budgets_.in_namespace(now->meta.ns))
      enqueue(kube::object_key(budget->meta));
  };
  replica_sets_.informer.add_handlers({.on_update = scaled});
  deployments_.informer.add_handlers({.on_update = scaled});
}

void DisruptionController::budget_changed(const ObjectPointer& budget) {
  const std::string key = kube::object_key(budget->meta);
  const json::value* selector = kube::find(budget->json, "PodDisruptionBudget.spec.selector");
  auto parsed = kube::LabelSelector::from_json(selector ? *selector : json::value());
  groups_.set(key, budget->meta.ns, parsed ? *parsed : kube::LabelSelector::nothing());
  enqueue(key);
}

std::int64_t DisruptionController::expected_pods(const std::vector<PodPointer>& pods) const {
  std::map<std::string, std::int64_t> wanted;  // by the UID of the controller
  for (const PodPointer& pod : pods) {
    const kube::Owner* owner = controller_of(pod->meta);
    if (!owner) {
      ++wanted[""];
      continue;
    }
    ObjectPointer above;
    if (owner->kind == "ReplicaSet")
      above = replica_sets_.find(kube::object_key(pod->meta.ns, owner->name));
    const kube::Owner* top = above ? controller_of(above->meta) : nullptr;
    if (top && top->kind == "Deployment")
      if (ObjectPointer deployment = deployments_.find(kube::object_key(pod->meta.ns, top->name)))
        above = deployment;
    if (above) {
      wanted[above->meta.uid] = kube::int_at(above->json, "ReplicaSet.spec.replicas").value_or(1);
    } else {
      ++wanted[owner->uid];  // the scale of this kind is unknown: count its pods
    }
  }
  std::int64_t out = 0;
  for (const auto& [uid, count] : wanted) out += count;
  return out;
}

Task<Result<void>> DisruptionController::reconcile(std::string key) {
  DisruptionInput input;
  input.budget = budgets_.find(key);
  if (!input.budget || input.budget->meta.deleted) co_return Result<void>();
  input.pods = groups_.members(key);
  std::erase_if(input.pods, [](const PodPointer& pod) { return is_terminal(*pod); });
  input.expected = expected_pods(input.pods);
  const WallTime now = clock_.wall();
  DisruptionPlan plan = plan_disruptions(input, now);
  if (plan.look_again) enqueue_after(key, *plan.look_again - now);
  PLIM_CO_TRY(
      [[maybe_unused]] bool changed,
      co_await write_status(kinds::pod_disruption_budgets, input.budget, std::move(plan.status)));
  co_return Result<void>();
}

}  // namespace plim::local::controllers
