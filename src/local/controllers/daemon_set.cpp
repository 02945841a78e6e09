#include "local/controllers/daemon_set.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "local/controllers/deployment_model.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::chrono::seconds kFirstRetry{1};
constexpr std::chrono::minutes kLongestRetry{15};

bool same_for_daemons(const kube::Node& a, const kube::Node& b) {
  auto taints = [](const kube::Node& node) {
    std::vector<std::string> out;
    for (const kube::Taint& one : node.taints)
      out.push_back(fmt::format("{}={}:{}", one.key, one.value, one.effect));
    return out;
  };
  return a.meta.labels == b.meta.labels && taints(a) == taints(b) &&
         a.unschedulable == b.unschedulable;
}

json::value revision_of(const Object& set, const Parent& parent, std::string_view hash,
                        std::int64_t number) {
  const json::value* given = kube::find(set.json, "DaemonSet.spec.template");
  json::value pod_template = given ? *given : json::value(json::object());
  json::value labels = json::object();
  if (const json::value* own = kube::find(pod_template, "PodTemplateSpec.metadata.labels"))
    labels = *own;
  labels.as_object()[kRevisionHash] = hash;
  // A rollback patches the DaemonSet with this.
  pod_template.as_object()["$patch"] = "replace";
  json::value out{{"apiVersion", "apps/v1"},
                  {"kind", "ControllerRevision"},
                  {"metadata",
                   {{"name", fmt::format("{}-{}", parent.name, hash)},
                    {"namespace", parent.ns},
                    {"labels", labels}}},
                  {"data", {{"spec", {{"template", pod_template}}}}},
                  {"revision", number}};
  PLIM_ASSERT(kube::set_owner(out, parent.controller_reference()));
  return out;
}

}  // namespace

DaemonSetController::DaemonSetController(const ControllerContext& context)
    : PodOwnerController(context,
                         {.name = "daemonset-controller", .component = "daemonset-controller"},
                         kube::resources::daemon_sets),
      nodes_(context.informers.nodes()),
      revisions_(context.informers.objects(kinds::controller_revisions)) {
  nodes_.informer.add_handlers({.on_add = [this](const NodePointer&) { enqueue_all(); },
                                .on_update =
                                    [this](const NodePointer& before, const NodePointer& now) {
                                      if (!same_for_daemons(*before, *now)) enqueue_all();
                                    },
                                .on_delete = [this](const NodePointer&) { enqueue_all(); }});
}

void DaemonSetController::enqueue_all() {
  for (const auto& [key, set] : owners_.informer.store()) enqueue(key);
}

Task<Result<void>> DaemonSetController::reconcile(std::string key) {
  DaemonInput input;
  input.daemon_set = owners_.find(key);
  if (!input.daemon_set) {
    retries_.erase(key);
    co_return Result<void>();
  }
  const json::value* wanted = kube::find(input.daemon_set->json, "DaemonSet.spec.selector");
  if (!wanted) co_return Result<void>();
  auto selector = kube::LabelSelector::from_json(*wanted);
  if (!selector) co_return Result<void>();
  const bool current = expectations_.satisfied(key);
  const bool deleting = input.daemon_set->meta.deleted.has_value();
  PLIM_CO_TRY(input.pods, co_await claim_pods(Parent(kind_, input.daemon_set->meta),
                                              std::move(*selector), deleting));
  PLIM_CO_TRY(input.revision_hash, co_await ensure_revision(input.daemon_set));
  for (const auto& [name, node] : nodes_.informer.store()) input.nodes.push_back(node);
  for (const auto& [node, retry] : retries_[key]) input.retry_from[node] = retry.from;
  DaemonPlan plan = plan_daemon_set(input, clock_.wall());
  if (!current || deleting) {
    plan.create.clear();
    plan.remove.clear();
  }
  if (plan.look_again) enqueue_after(key, *plan.look_again - clock_.wall());
  ObjectPointer set = input.daemon_set;
  co_return co_await carry_out(set, std::move(input), std::move(plan));
}

Task<Result<void>> DaemonSetController::carry_out(ObjectPointer set, DaemonInput input,
                                                  DaemonPlan plan) {
  const Parent parent(kind_, set->meta);
  auto& retries = retries_[kube::object_key(set->meta)];
  for (const PodPointer& pod : plan.failed) {
    const std::string node = node_of_daemon_pod(*pod);
    record(parent, kube::EventNote::Type::warning, "FailedDaemonPod",
           fmt::format("Found failed daemon pod {}/{} on node {}, will try to kill it",
                       pod->meta.ns, pod->meta.name, node));
    Retry& retry = retries[node];
    retry.delay = retry.delay == Nanos::zero() ? Nanos(kFirstRetry) : retry.delay * 2;
    retry.delay = std::min<Nanos>(retry.delay, kLongestRetry);
    retry.from = clock_.wall() + retry.delay;
  }
  std::optional<Error> trouble;
  std::vector<json::value> pods;
  for (const std::string& node : plan.create)
    pods.push_back(daemon_pod(*set, input.revision_hash, node));
  Outcome created = co_await create_pods(parent, std::move(pods));
  if (created.error && !is_namespace_terminating(*created.error)) trouble = created.error;
  Outcome removed = co_await delete_pods(parent, std::move(plan.remove));
  if (!trouble) trouble = removed.error;
  PLIM_CO_TRY([[maybe_unused]] bool changed,
              co_await write_status(kind_, set, std::move(plan.status)));
  PLIM_CO_CHECK(co_await drop_old_revisions(set, input.revision_hash));
  if (trouble) co_return std::move(*trouble);
  co_return Result<void>();
}

Task<Result<std::string>> DaemonSetController::ensure_revision(ObjectPointer set) {
  const json::value* given = kube::find(set->json, "DaemonSet.spec.template");
  const std::string hash = template_hash(given ? *given : json::value(json::object()), 0);
  const Parent parent(kind_, set->meta);
  std::int64_t highest = 0;
  ObjectPointer present;
  for (ObjectPointer& one : revisions_.controlled_by(set->meta.uid)) {
    highest = std::max(highest, kube::int_at(one->json, "ControllerRevision.revision").value_or(0));
    if (kube::find_label(one->meta.labels, kRevisionHash) == hash) present = one;
  }
  kube::ObjectPath path;
  path.ns = parent.ns;
  if (!present) {
    json::value made = revision_of(*set, parent, hash, highest + 1);
    auto created =
        co_await client_->create(kinds::controller_revisions, std::move(path), std::move(made));
    if (!created && created.error().code != Code::already_exists)
      co_return std::move(created).error();
  } else if (kube::int_at(present->json, "ControllerRevision.revision").value_or(0) < highest) {
    // The user went back to an old template: its revision becomes the newest.
    path.name = present->meta.name;
    json::value changed = present->json;
    changed.as_object()[kube::key("ControllerRevision.revision")] = highest + 1;
    PLIM_CO_TRY(json::value written, co_await client_->update(kinds::controller_revisions,
                                                              std::move(path), std::move(changed)));
  }
  co_return hash;
}

// Deletes revisions without pods that exceed the history limit, oldest first.
Task<Result<void>> DaemonSetController::drop_old_revisions(ObjectPointer set, std::string current) {
  std::vector<ObjectPointer> unused = revisions_.controlled_by(set->meta.uid);
  std::vector<std::string> used{current};
  for (const PodPointer& pod : pods_.controlled_by(set->meta.uid))
    if (auto hash = kube::find_label(pod->meta.labels, kRevisionHash)) used.emplace_back(*hash);
  std::erase_if(unused, [&](const ObjectPointer& one) {
    auto hash = kube::find_label(one->meta.labels, kRevisionHash);
    return hash && std::find(used.begin(), used.end(), *hash) != used.end();
  });
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(
      0, kube::int_at(set->json, "DaemonSet.spec.revisionHistoryLimit").value_or(10)));
  if (unused.size() <= limit) co_return Result<void>();
  std::sort(unused.begin(), unused.end(), [](const ObjectPointer& a, const ObjectPointer& b) {
    return kube::int_at(a->json, "ControllerRevision.revision").value_or(0) <
           kube::int_at(b->json, "ControllerRevision.revision").value_or(0);
  });
  unused.resize(unused.size() - limit);
  for (const ObjectPointer& one : unused) {
    kube::ObjectPath path = Parent(kinds::controller_revisions, one->meta).path();
    auto removed = co_await client_->remove(kinds::controller_revisions, std::move(path));
    if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  }
  co_return Result<void>();
}

}  // namespace plim::local::controllers
