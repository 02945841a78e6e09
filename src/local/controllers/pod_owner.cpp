#include "local/controllers/pod_owner.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::local::controllers {
namespace {

using Type = kube::EventNote::Type;

std::string key_of(const Parent& parent) {
  return kube::object_key(parent.ns, parent.name);
}

bool same_controller(const kube::Pod& a, const kube::Pod& b) {
  const kube::Owner* x = controller_of(a.meta);
  const kube::Owner* y = controller_of(b.meta);
  return x && y ? x->uid == y->uid : x == y;
}

}  // namespace

json::value pod_from_template(const json::value& pod_template, const Parent& parent) {
  json::object metadata;
  metadata[kube::key("ObjectMeta.generateName")] = parent.name + "-";
  metadata[kube::key("ObjectMeta.namespace")] = parent.ns;
  constexpr kube::AnyPath kCopied[] = {"PodTemplateSpec.metadata.labels",
                                       "PodTemplateSpec.metadata.annotations",
                                       "PodTemplateSpec.metadata.finalizers"};
  for (kube::AnyPath path : kCopied)
    if (const json::value* given = kube::find(pod_template, path)) metadata[path.key()] = *given;
  json::value pod{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}};
  if (const json::value* spec = kube::find(pod_template, "PodTemplateSpec.spec"))
    pod.as_object()[kube::key("Pod.spec")] = *spec;
  // The new pod has no owner yet, so this cannot fail.
  PLIM_ASSERT(kube::set_owner(pod, parent.controller_reference()));
  return pod;
}

PodOwnerController::PodOwnerController(const ControllerContext& context,
                                       ControllerIdentity identity, const kube::Resource& kind)
    : Controller(context, std::move(identity)),
      kind_(kind),
      owners_(context.informers.objects(kind)),
      pods_(context.informers.pods()),
      expectations_(context.clock) {
  auto queue = [this](const ObjectPointer& owner) { enqueue(kube::object_key(owner->meta)); };
  owners_.informer.add_handlers(
      {.on_add = queue,
       .on_update = [queue](const ObjectPointer&, const ObjectPointer& now) { queue(now); },
       .on_delete =
           [this, queue](const ObjectPointer& last) {
             expectations_.forget(kube::object_key(last->meta));
             queue(last);
           }});
  pods_.informer.add_handlers(
      {.on_add = [this](const PodPointer& pod) { on_add(pod); },
       .on_update = [this](const PodPointer& before,
                           const PodPointer& now) { on_update(before, now); },
       .on_delete = [this](const PodPointer& last) { on_gone(last, nullptr); }});
}

void PodOwnerController::pod_changed(const std::string&, const PodPointer&, const PodPointer&) {}

ObjectPointer PodOwnerController::owner_of(const kube::Pod& pod) const {
  const kube::Owner* owner = controller_of(pod.meta);
  if (!owner || owner->kind != kind_.kind) return nullptr;
  ObjectPointer found = owners_.find(kube::object_key(pod.meta.ns, owner->name));
  return found && found->meta.uid == owner->uid ? found : nullptr;
}

void PodOwnerController::on_add(const PodPointer& pod) {
  // The pod was already being deleted when we started.
  if (pod->meta.deleted) return on_gone(pod, pod);
  if (ObjectPointer owner = owner_of(*pod)) {
    const std::string key = kube::object_key(owner->meta);
    expectations_.creation_observed(key);
    pod_changed(key, nullptr, pod);
    enqueue(key);
  } else if (!controller_of(pod->meta)) {
    enqueue_matching(*pod);
  }
}

void PodOwnerController::on_update(const PodPointer& before, const PodPointer& now) {
  const bool moved = !same_controller(*before, *now);
  if (moved)
    if (ObjectPointer owner = owner_of(*before)) enqueue(kube::object_key(owner->meta));
  if (now->meta.deleted) return on_gone(before, now);
  if (ObjectPointer owner = owner_of(*now)) {
    const std::string key = kube::object_key(owner->meta);
    pod_changed(key, before, now);
    enqueue(key);
  } else if (!controller_of(now->meta) && (moved || before->meta.labels != now->meta.labels)) {
    enqueue_matching(*now);
  }
}

// A pod that is being deleted counts as gone: its owner needs another one.
void PodOwnerController::on_gone(const PodPointer& before, const PodPointer& now) {
  ObjectPointer owner = owner_of(now ? *now : *before);
  if (!owner) return;
  const std::string key = kube::object_key(owner->meta);
  expectations_.deletion_observed(key, before->meta.uid);
  pod_changed(key, before, now);
  enqueue(key);
}

void PodOwnerController::enqueue_matching(const kube::Pod& pod) {
  if (pod.meta.labels.empty()) return;
  for (const ObjectPointer& owner : owners_.in_namespace(pod.meta.ns)) {
    const json::value* selector = kube::find(owner->json, "ReplicaSet.spec.selector");
    auto parsed = selector ? kube::LabelSelector::from_json(*selector)
                           : Result<kube::LabelSelector>(kube::LabelSelector::nothing());
    if (parsed && parsed->matches(pod.meta.labels)) enqueue(kube::object_key(owner->meta));
  }
}

Task<PodOwnerController::Outcome> PodOwnerController::create_pods(Parent parent,
                                                                  std::vector<json::value> pods) {
  const std::string key = key_of(parent);
  expectations_.expect_creations(key, pods.size());
  auto outcome = std::make_shared<Outcome>();
  std::size_t next = 0;
  for (std::size_t batch = 1; next < pods.size() && !outcome->error; batch *= 2) {
    std::vector<Task<void>> calls;
    for (; calls.size() < batch && next < pods.size(); ++next)
      calls.push_back(create_one(parent, std::move(pods[next]), outcome));
    co_await together(std::move(calls));
  }
  for (; next < pods.size(); ++next) expectations_.creation_observed(key);
  co_return *outcome;
}

Task<void> PodOwnerController::create_one(Parent parent, json::value pod,
                                          std::shared_ptr<Outcome> outcome) {
  kube::ObjectPath path;
  path.ns = parent.ns;
  auto created = co_await client_->create(kube::resources::pods, std::move(path), std::move(pod));
  if (created) {
    ++outcome->done;
    record(parent, Type::normal, "SuccessfulCreate",
           fmt::format("Created pod: {}", kube::name_of(*created)));
    co_return;
  }
  expectations_.creation_observed(key_of(parent));
  if (is_namespace_terminating(created.error())) {
    if (!outcome->error) outcome->error = created.error();
    co_return;
  }
  record(parent, Type::warning, "FailedCreate",
         fmt::format("Error creating: {}", created.error().message));
  if (!outcome->error) outcome->error = std::move(created).error();
}

Task<PodOwnerController::Outcome> PodOwnerController::delete_pods(Parent parent,
                                                                  std::vector<PodPointer> pods) {
  std::vector<std::string> uids;
  for (const PodPointer& pod : pods) uids.push_back(pod->meta.uid);
  expectations_.expect_deletions(key_of(parent), uids);
  auto outcome = std::make_shared<Outcome>();
  std::vector<Task<void>> calls;
  for (PodPointer& pod : pods) calls.push_back(delete_one(parent, std::move(pod), outcome));
  co_await together(std::move(calls));
  co_return *outcome;
}

Task<void> PodOwnerController::delete_one(Parent parent, PodPointer pod,
                                          std::shared_ptr<Outcome> outcome) {
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  kube::ObjectPath path = Parent(kube::resources::pods, pod->meta).path();
  auto removed =
      co_await client_->remove(kube::resources::pods, std::move(path), std::move(options));
  if (removed) {
    ++outcome->done;
    record(parent, Type::normal, "SuccessfulDelete",
           fmt::format("Deleted pod: {}", pod->meta.name));
    co_return;
  }
  expectations_.deletion_observed(key_of(parent), pod->meta.uid);
  // Another client has deleted it.
  if (removed.error().code == Code::not_found) co_return;
  record(parent, Type::warning, "FailedDelete",
         fmt::format("Error deleting: {}", removed.error().message));
  if (!outcome->error) outcome->error = std::move(removed).error();
}

Task<Result<std::vector<PodPointer>>> PodOwnerController::claim_pods(Parent parent,
                                                                     kube::LabelSelector selector,
                                                                     bool parent_deleting) {
  std::vector<PodPointer> candidates = pods_.controlled_by(parent.uid);
  std::vector<PodPointer> orphans = pods_.orphans_in(parent.ns);
  candidates.insert(candidates.end(), orphans.begin(), orphans.end());
  std::vector<PodPointer> mine;
  std::optional<bool> may;
  for (PodPointer& pod : candidates) {
    const bool matches = selector.matches(pod->meta.labels);
    const Claim claim = classify_claim(pod->meta, parent.uid, parent_deleting, matches);
    if (claim == Claim::mine) mine.push_back(std::move(pod));
    if (claim == Claim::mine || claim == Claim::foreign) continue;
    kube::ObjectPath path = Parent(kube::resources::pods, pod->meta).path();
    if (claim == Claim::release) {
      PLIM_CO_CHECK(
          co_await release(kube::resources::pods, std::move(path), pod->meta.uid, parent));
      continue;
    }
    if (!may) {
      PLIM_CO_TRY(may, co_await may_adopt(parent));
    }
    if (!*may) continue;
    PLIM_CO_CHECK(co_await adopt(kube::resources::pods, std::move(path), pod->meta.uid, parent));
    mine.push_back(std::move(pod));
  }
  co_return mine;
}

}  // namespace plim::local::controllers
