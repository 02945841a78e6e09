#include "local/controllers/node_lifecycle.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "local/controllers/node_taints.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";

std::string ready_state(const kube::Node& node) {
  const kube::Condition* ready = find_condition(node.conditions, "Ready");
  return ready ? std::string(ready->status.view()) : "";
}

bool is_tainted(const kube::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const kube::Taint& taint) { return taint.effect == "NoExecute"; });
}

// A patch that adds a condition to the status of the pod.
json::value condition_patch(std::string_view type, std::string_view status, std::string_view reason,
                            std::string_view message, WallTime now) {
  json::object condition{{"type", type},
                         {"status", status},
                         {"lastTransitionTime", format_rfc3339(now)},
                         {"reason", reason},
                         {"message", message}};
  json::array list;
  list.push_back(std::move(condition));
  return {{"status", {{"conditions", std::move(list)}}}};
}

}  // namespace

NodeLifecycleController::NodeLifecycleController(const ControllerContext& context, Nanos grace)
    : Controller(
          context,
          {.name = "node-lifecycle-controller", .component = "node-controller", .workers = 64}),
      grace_(grace),
      nodes_(context.informers.nodes()),
      pods_(context.informers.pods()),
      leases_(context.informers.objects(kube::resources::leases)) {
  nodes_.informer.add_handlers(
      {.on_add =
           [this](const NodePointer& node) {
             alive(node->meta.name);
             enqueue(node->meta.name);
           },
       .on_update =
           [this](const NodePointer& before, const NodePointer& now) {
             const std::string state = ready_state(*now);
             if (state != ready_state(*before) && state != "Unknown") alive(now->meta.name);
             enqueue(now->meta.name);
           },
       .on_delete = [this](const NodePointer& node) { seen_.erase(node->meta.name); }});
  auto renewed = [this](const ObjectPointer& lease) {
    if (lease->meta.ns == kLeaseNamespace && seen_.contains(lease->meta.name))
      alive(lease->meta.name);
  };
  leases_.informer.add_handlers(
      {.on_add = renewed,
       .on_update = [renewed](const ObjectPointer&, const ObjectPointer& now) { renewed(now); }});
}

void NodeLifecycleController::alive(const std::string& name) {
  seen_[name] = clock_.steady();
}

Task<Result<void>> NodeLifecycleController::reconcile(std::string name) {
  NodePointer node = nodes_.find(name);
  auto seen = seen_.find(name);
  if (!node || seen == seen_.end()) co_return Result<void>();
  const SteadyTime due = seen->second + grace_;
  const bool silent = due <= clock_.steady();
  if (!silent) enqueue_after(name, due - clock_.steady());
  if (silent && ready_state(*node) != "Unknown") {
    PLIM_CO_CHECK(co_await mark_silent(name));
  } else if (has_right_taints(*node)) {
    co_return Result<void>();
  }
  co_return co_await set_taints(name);
}

Task<Result<void>> NodeLifecycleController::mark_silent(std::string name) {
  kube::ObjectPath path;
  path.name = name;
  auto live = co_await client_->get(kube::resources::nodes, path);
  if (!live && live.error().code == Code::not_found) co_return Result<void>();
  if (!live) co_return std::move(live).error();
  auto conditions = silent_conditions(*live, clock_.wall());
  if (!conditions) co_return Result<void>();
  kube::make_object(*live, "Node.status")[kube::key("NodeStatus.conditions")] =
      std::move(*conditions);
  path.subresource = "status";
  PLIM_CO_TRY(json::value written,
              co_await client_->update(kube::resources::nodes, std::move(path), std::move(*live)));
  NodePointer node = nodes_.find(name);
  if (node)
    record(Parent(kube::resources::nodes, node->meta), kube::EventNote::Type::normal,
           "NodeNotReady", fmt::format("Node {} status is now: NodeNotReady", name));
  co_return co_await mark_pods_unready(std::move(name));
}

// The kubelet cannot report it.
Task<Result<void>> NodeLifecycleController::mark_pods_unready(std::string node) {
  const std::vector<PodPointer> here = pods_.on_node(node);
  for (const PodPointer& pod : here) {
    if (!is_ready(*pod)) continue;
    json::value patch = condition_patch("Ready", "False", "NodeNotReady", "", clock_.wall());
    kube::ObjectPath path = Parent(kube::resources::pods, pod->meta).path("status");
    auto patched = co_await client_->patch(kube::resources::pods, std::move(path),
                                           kube::PatchType::strategic, std::move(patch));
    if (!patched && patched.error().code != Code::not_found) co_return std::move(patched).error();
  }
  co_return Result<void>();
}

Task<Result<void>> NodeLifecycleController::set_taints(std::string name) {
  kube::ObjectPath path;
  path.name = name;
  auto live = co_await client_->get(kube::resources::nodes, path);
  if (!live && live.error().code == Code::not_found) co_return Result<void>();
  if (!live) co_return std::move(live).error();
  auto taints = taints_by_conditions(*live, clock_.wall());
  if (!taints) co_return Result<void>();
  set_or_omit(kube::make_object(*live, "Node.spec"), "NodeSpec.taints", std::move(*taints));
  PLIM_CO_TRY(json::value written,
              co_await client_->update(kube::resources::nodes, std::move(path), std::move(*live)));
  co_return Result<void>();
}

TaintEvictionController::TaintEvictionController(const ControllerContext& context)
    : Controller(context, {.name = "taint-eviction-controller",
                           .component = "taint-eviction-controller",
                           .workers = 8}),
      nodes_(context.informers.nodes()),
      pods_(context.informers.pods()) {
  nodes_.informer.add_handlers(
      {.on_add = [this](const NodePointer& node) { node_changed(node); },
       .on_update = [this](const NodePointer&, const NodePointer& now) { node_changed(now); },
       .on_delete = [this](const NodePointer& node) { tainted_since_.erase(node->meta.name); }});
  auto look = [this](const PodPointer& pod) {
    if (tainted_since_.contains(std::string(pod->spec.node_name.view())))
      enqueue(kube::object_key(pod->meta));
  };
  pods_.informer.add_handlers(
      {.on_add = look,
       .on_update = [look](const PodPointer&, const PodPointer& now) { look(now); }});
}

void TaintEvictionController::node_changed(const NodePointer& node) {
  if (!is_tainted(*node)) {
    tainted_since_.erase(node->meta.name);
    return;
  }
  tainted_since_.emplace(node->meta.name, clock_.steady());
  for (const PodPointer& pod : pods_.on_node(node->meta.name)) enqueue(kube::object_key(pod->meta));
}

Task<Result<void>> TaintEvictionController::reconcile(std::string key) {
  PodPointer pod = pods_.find(key);
  if (!pod || pod->meta.deleted) co_return Result<void>();
  NodePointer node = nodes_.find(pod->spec.node_name.view());
  auto since = tainted_since_.find(std::string(pod->spec.node_name.view()));
  if (!node || since == tainted_since_.end()) co_return Result<void>();
  auto stays = stays_for(*pod, node->taints);
  if (!stays) co_return Result<void>();
  if (const Nanos left = since->second + *stays - clock_.steady(); left > Nanos::zero()) {
    enqueue_after(key, left);
    co_return Result<void>();
  }
  const Parent about(kube::resources::pods, pod->meta);
  record(about, kube::EventNote::Type::normal, "TaintManagerEviction",
         fmt::format("Marking for deletion Pod {}", key));
  json::value patch =
      condition_patch("DisruptionTarget", "True", "DeletionByTaintManager",
                      "Taint manager: deleting due to NoExecute taint", clock_.wall());
  auto patched = co_await client_->patch(kube::resources::pods, about.path("status"),
                                         kube::PatchType::strategic, std::move(patch));
  if (!patched && patched.error().code == Code::not_found) co_return Result<void>();
  if (!patched) co_return std::move(patched).error();
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  auto removed = co_await client_->remove(kube::resources::pods, about.path(), std::move(options));
  if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  co_return Result<void>();
}

}  // namespace plim::local::controllers
