#include "local/controllers/deployment.hpp"

#include <fmt/format.h>

#include "local/controllers/deployment_model.hpp"
#include "local/controllers/deployment_status.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

using Type = kube::EventNote::Type;

bool is_recreate(const Object& deployment) {
  return kube::text_at(deployment.json, "Deployment.spec.strategy.type") == "Recreate";
}

}  // namespace

DeploymentController::DeploymentController(const ControllerContext& context)
    : Controller(context, {.name = "deployment-controller", .component = "deployment-controller"}),
      deployments_(context.informers.objects(kube::resources::deployments)),
      sets_(context.informers.objects(kube::resources::replica_sets)),
      pods_(context.informers.pods()) {
  auto queue = [this](const ObjectPointer& deployment) {
    enqueue(kube::object_key(deployment->meta));
  };
  deployments_.informer.add_handlers(
      {.on_add = queue,
       .on_update = [queue](const ObjectPointer&, const ObjectPointer& now) { queue(now); },
       .on_delete = queue});
  sets_.informer.add_handlers(
      {.on_add = [this](const ObjectPointer& set) { set_changed(set); },
       .on_update =
           [this](const ObjectPointer& before, const ObjectPointer& now) {
             set_changed(before);
             set_changed(now);
           },
       .on_delete = [this](const ObjectPointer& set) { set_changed(set); }});
  pods_.informer.add_handlers({.on_delete = [this](const PodPointer& pod) { pod_gone(*pod); }});
}

void DeploymentController::set_changed(const ObjectPointer& set) {
  if (const kube::Owner* owner = controller_of(set->meta)) {
    if (owner->kind == "Deployment") enqueue(kube::object_key(set->meta.ns, owner->name));
    return;
  }
  for (const ObjectPointer& deployment : deployments_.in_namespace(set->meta.ns)) {
    const json::value* selector = kube::find(deployment->json, "Deployment.spec.selector");
    if (!selector) continue;
    auto parsed = kube::LabelSelector::from_json(*selector);
    if (parsed && parsed->matches(set->meta.labels)) enqueue(kube::object_key(deployment->meta));
  }
}

// Recreate waits for the last pod of the old template.
void DeploymentController::pod_gone(const kube::Pod& pod) {
  const kube::Owner* owner = controller_of(pod.meta);
  if (!owner || owner->kind != "ReplicaSet") return;
  ObjectPointer set = sets_.find(kube::object_key(pod.meta.ns, owner->name));
  const kube::Owner* above = set ? controller_of(set->meta) : nullptr;
  if (!above) return;
  const std::string key = kube::object_key(pod.meta.ns, above->name);
  ObjectPointer deployment = deployments_.find(key);
  if (deployment && is_recreate(*deployment)) enqueue(key);
}

Task<Result<void>> DeploymentController::reconcile(std::string key) {
  DeploymentInput input;
  input.deployment = deployments_.find(key);
  if (!input.deployment) co_return Result<void>();
  const json::value* selector = kube::find(input.deployment->json, "Deployment.spec.selector");
  if (!selector || !selector->is_object() || selector->get_object().empty())
    co_return Result<void>();  // an empty selector would select every pod
  PLIM_CO_TRY(input.sets, co_await claim_sets(input.deployment));
  const json::value* pod_template = kube::find(input.deployment->json, "Deployment.spec.template");
  if (pod_template && is_recreate(*input.deployment))
    input.old_pods_running = old_pods_running(input.sets, *pod_template);
  DeploymentPlan plan = plan_deployment(input, clock_.wall());
  if (plan.look_again) enqueue_after(key, *plan.look_again - clock_.wall());
  co_return co_await carry_out(input.deployment, std::move(plan));
}

bool DeploymentController::old_pods_running(const std::vector<ObjectPointer>& sets,
                                            const json::value& pod_template) const {
  const std::string identity = template_identity(pod_template);
  for (const ObjectPointer& set : sets) {
    const json::value* other = kube::find(set->json, "ReplicaSet.spec.template");
    if (other && template_identity(*other) == identity) continue;
    if (kube::int_at(set->json, "ReplicaSet.status.replicas").value_or(0) > 0) return true;
    for (const PodPointer& pod : pods_.controlled_by(set->meta.uid))
      if (!is_terminal(*pod)) return true;
  }
  return false;
}

Task<Result<std::vector<ObjectPointer>>> DeploymentController::claim_sets(
    ObjectPointer deployment) {
  const Parent parent(kube::resources::deployments, deployment->meta);
  auto selector = kube::LabelSelector::from_json(deployment->json.at("spec").at("selector"));
  if (!selector) co_return std::move(selector).error();
  const bool deleting = deployment->meta.deleted.has_value();
  std::vector<ObjectPointer> candidates = sets_.controlled_by(parent.uid);
  for (ObjectPointer& orphan : sets_.orphans_in(parent.ns)) candidates.push_back(std::move(orphan));
  std::vector<ObjectPointer> mine;
  bool adopted = false;
  for (ObjectPointer& set : candidates) {
    const bool matches = selector->matches(set->meta.labels);
    const Claim claim = classify_claim(set->meta, parent.uid, deleting, matches);
    if (claim == Claim::mine) mine.push_back(std::move(set));
    if (claim == Claim::mine || claim == Claim::foreign) continue;
    kube::ObjectPath path = Parent(kube::resources::replica_sets, set->meta).path();
    if (claim == Claim::release) {
      PLIM_CO_CHECK(
          co_await release(kube::resources::replica_sets, std::move(path), set->meta.uid, parent));
      continue;
    }
    PLIM_CO_TRY(bool may, co_await may_adopt(parent));
    if (!may) continue;
    adopted = true;
    PLIM_CO_CHECK(
        co_await adopt(kube::resources::replica_sets, std::move(path), set->meta.uid, parent));
  }
  // The next write must contain the owner reference, or the adopted set would be created twice.
  if (adopted) co_return fail(Code::conflict, "the adopted ReplicaSets are not in the cache yet");
  co_return mine;
}

Task<Result<void>> DeploymentController::carry_out(ObjectPointer deployment, DeploymentPlan plan) {
  const Parent parent(kube::resources::deployments, deployment->meta);
  if (plan.create) {
    json::value set = plan.create->object;
    kube::ObjectPath path;
    path.ns = parent.ns;
    auto created = co_await client_->create(kube::resources::replica_sets, path, std::move(set));
    if (!created && created.error().code == Code::already_exists)
      co_return co_await resolve_collision(deployment, std::move(plan.create->object));
    if (!created) {
      Error error = std::move(created).error();
      const std::string message = fmt::format("Failed to create new replica set \"{}\": {}",
                                              kube::name_of(plan.create->object), error.message);
      if (!is_namespace_terminating(error)) co_await note_failure(std::move(deployment), message);
      co_return error;
    }
    if (!plan.create->note.empty())
      record(parent, Type::normal, "ScalingReplicaSet", plan.create->note);
  }
  for (SetChange& change : plan.update) {
    kube::ObjectPath path;
    path.ns = parent.ns;
    path.name = kube::name_of(change.object);
    PLIM_CO_TRY(json::value written,
                co_await client_->update(kube::resources::replica_sets, std::move(path),
                                         std::move(change.object)));
    if (!change.note.empty()) record(parent, Type::normal, "ScalingReplicaSet", change.note);
  }
  for (const ObjectPointer& set : plan.remove) {
    kube::DeleteOptions options;
    options.uid = set->meta.uid;
    kube::ObjectPath path = Parent(kube::resources::replica_sets, set->meta).path();
    auto removed = co_await client_->remove(kube::resources::replica_sets, std::move(path),
                                            std::move(options));
    if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  }
  co_return co_await write_status(deployment, std::move(plan.status), std::move(plan.revision));
}

// The status shows the failure too, if it can be written.
Task<void> DeploymentController::note_failure(ObjectPointer deployment, std::string message) {
  record(Parent(kube::resources::deployments, deployment->meta), Type::warning,
         "ReplicaSetCreateError", message);
  if (!DeploymentModel(*deployment).progress_deadline) co_return;
  const json::value* before = kube::find(deployment->json, "Deployment.status");
  json::object status = before && before->is_object() ? before->get_object() : json::object();
  set_deployment_condition(status,
                           {.type = "Progressing",
                            .status = "False",
                            .reason = "ReplicaSetCreateError",
                            .message = message},
                           clock_.wall());
  json::value changed(std::move(status));
  auto written = co_await write_status(std::move(deployment), std::move(changed), "");
  if (!written)
    log::debug(name(), "cannot write a failure to the status", {{"error", written.error()}});
}

Task<Result<void>> DeploymentController::write_status(ObjectPointer deployment, json::value status,
                                                      std::string revision) {
  const json::value* before = kube::find(deployment->json, "Deployment.status");
  if (before && *before == status && revision.empty()) co_return Result<void>();
  kube::ObjectPath path = Parent(kube::resources::deployments, deployment->meta).path("status");
  json::value changed = deployment->json;
  changed.as_object()[kube::key("Deployment.status")] = std::move(status);
  // The status subresource accepts annotations too. Unlike a write to the object, it does not
  // create a new generation, which would look like a change by the user.
  if (!revision.empty())
    kube::make_object(changed, "Deployment.metadata.annotations")[kRevision] = revision;
  PLIM_CO_TRY(json::value written, co_await client_->update(kube::resources::deployments,
                                                            std::move(path), std::move(changed)));
  co_return Result<void>();
}

Task<Result<void>> DeploymentController::resolve_collision(ObjectPointer deployment,
                                                           json::value set) {
  kube::ObjectPath path;
  path.ns = deployment->meta.ns.view();
  path.name = kube::name_of(set);
  PLIM_CO_TRY(json::value present,
              co_await client_->get(kube::resources::replica_sets, std::move(path)));
  const bool ours = kube::is_controlled_by(present, deployment->meta.uid) &&
                    template_identity(present.at("spec").at("template")) ==
                        template_identity(set.at("spec").at("template"));
  if (ours) co_return fail(Code::conflict, "the ReplicaSet is not in the cache yet");
  const json::value* before = kube::find(deployment->json, "Deployment.status");
  json::value status = before ? *before : json::value(json::object());
  status.as_object()[kube::key("DeploymentStatus.collisionCount")] =
      kube::int_at(status, "DeploymentStatus.collisionCount").value_or(0) + 1;
  co_return co_await write_status(deployment, std::move(status), "");
}

}  // namespace plim::local::controllers
