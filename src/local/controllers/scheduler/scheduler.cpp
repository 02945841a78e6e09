#include "local/controllers/scheduler/scheduler.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/rfc3339.hpp"

namespace plim::local::controllers::scheduler {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kName = "default-scheduler";
constexpr std::size_t kMaxBinding = 128;
constexpr std::size_t kEventQueue = 20'000;
// Many changes come together; pods that wait are tried again once for all of them.
constexpr Nanos kCollect = 50ms;
constexpr Nanos kRetryAnyway = 60s;

kube::ReflectorOptions live_pods() {
  kube::ReflectorOptions out;
  out.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return out;
}

const kube::Condition* scheduled_condition(const kube::Pod& pod) {
  auto found = std::ranges::find_if(pod.status.conditions, [](const kube::Condition& condition) {
    return condition.type == "PodScheduled";
  });
  return found == pod.status.conditions.end() ? nullptr : &*found;
}

bool is_ours(const kube::Pod& pod) {
  if (pod.spec.scheduler_name != kName || pod.meta.deleted) return false;
  const kube::Condition* condition = scheduled_condition(pod);
  return condition == nullptr || condition->reason != "SchedulingGated";
}

bool same_pairs(const kube::ResourceList& a, const kube::ResourceList& b) {
  return std::ranges::equal(a, b);
}

// Heartbeats change nodes all the time without changing what fits there.
bool may_fit_more(const kube::Node& before, const kube::Node& now) {
  auto same_taint = [](const kube::Taint& a, const kube::Taint& b) {
    return a.key == b.key && a.value == b.value && a.effect == b.effect;
  };
  return before.unschedulable != now.unschedulable ||
         !same_pairs(before.allocatable, now.allocatable) ||
         !same_pairs(before.meta.labels, now.meta.labels) ||
         !std::ranges::equal(before.taints, now.taints, same_taint);
}

}  // namespace

Scheduler::Scheduler(const Executor& loop, std::shared_ptr<kube::Client> client, Clock& clock)
    : client_(std::move(client)),
      clock_(clock),
      pods_(loop, client_, kube::resources::pods, kube::pod_codec(pool_), live_pods(), clock),
      nodes_(loop, client_, kube::resources::nodes, kube::node_codec(pool_), {}, clock),
      events_(loop, client_, {.component = std::string(kName)}, clock, kEventQueue),
      queue_(loop, {.first = 1s, .limit = 10s}, clock),
      bound_(loop),
      changed_(loop),
      tasks_(loop) {
  pods_.add_handlers({.on_add = [this](const PodPointer& pod) { pod_changed(nullptr, pod); },
                      .on_update = [this](const PodPointer& before,
                                          const PodPointer& now) { pod_changed(before, now); },
                      .on_delete = [this](const PodPointer& pod) { pod_gone(pod); }});
  nodes_.add_handlers({.on_add = [this](const NodePointer& node) { node_changed(nullptr, node); },
                       .on_update = [this](const NodePointer& before,
                                           const NodePointer& now) { node_changed(before, now); },
                       .on_delete = [this](const NodePointer& node) { node_gone(node); }});
}

void Scheduler::start() {
  pods_.start();
  nodes_.start();
  events_.start();
  tasks_.spawn("scheduler", place_pods());
  tasks_.spawn("scheduler's second tries", retry_unschedulable());
}

Task<void> Scheduler::stop() {
  co_await tasks_.stop();
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await events_.stop();
}

void Scheduler::pod_changed(const PodPointer& before, const PodPointer& pod) {
  std::string key = kube::object_key(pod->meta);
  if (!pod->spec.node_name.empty()) {
    unschedulable_.erase(key);
    queue_.forget(key);
    forget(pod->meta.uid);
    put(std::string(pod->spec.node_name), std::make_shared<const PlacedPod>(pod));
    changed_.notify();  // somebody may want to be near it
    return;
  }
  // One that is being bound is settled; what we hear of it was written before.
  if (placed_.contains(pod->meta.uid)) return;
  // That it waits is written by ourselves.
  bool same = before && before->meta.generation == pod->meta.generation;
  if (same && unschedulable_.contains(key)) return;
  if (is_ours(*pod)) queue_.add(key);
}

void Scheduler::pod_gone(const PodPointer& pod) {
  std::string key = kube::object_key(pod->meta);
  unschedulable_.erase(key);
  queue_.forget(key);
  forget(pod->meta.uid);
  changed_.notify();
}

void Scheduler::node_changed(const NodePointer& before, const NodePointer& node) {
  const std::string& name = node->meta.name;
  std::unique_ptr<NodeState>& state = states_[name];
  if (state) {
    state->set_node(node);
  } else {
    state = std::make_unique<NodeState>(node);
    if (auto found = homeless_.extract(name))
      for (auto& [uid, pod] : found.mapped()) state->add(std::move(pod));
    order_.clear();
  }
  if (!before || may_fit_more(*before, *node)) changed_.notify();
}

void Scheduler::node_gone(const NodePointer& node) {
  auto state = states_.extract(node->meta.name);
  if (!state) return;
  for (const auto& pod : state.mapped()->pods())
    homeless_[node->meta.name][pod->pod->meta.uid] = pod;
  order_.clear();
}

void Scheduler::put(const std::string& node, std::shared_ptr<const PlacedPod> pod) {
  placed_[pod->pod->meta.uid] = {node, pod};
  if (auto state = states_.find(node); state != states_.end()) {
    state->second->add(std::move(pod));
  } else {
    homeless_[node][pod->pod->meta.uid] = std::move(pod);
  }
}

void Scheduler::forget(const std::string& uid) {
  auto found = placed_.find(uid);
  if (found == placed_.end()) return;
  const Placed& placed = found->second;
  if (auto state = states_.find(placed.node); state != states_.end())
    state->second->remove(*placed.pod);
  if (auto waiting = homeless_.find(placed.node); waiting != homeless_.end()) {
    waiting->second.erase(uid);
    if (waiting->second.empty()) homeless_.erase(waiting);
  }
  placed_.erase(found);
}

void Scheduler::order_nodes() {
  if (!order_.empty()) return;
  for (const auto& [name, state] : states_) order_.push_back(state.get());
}

Task<void> Scheduler::place_pods() {
  co_await pods_.wait_synced();
  co_await nodes_.wait_synced();
  for (;;) {
    while (binding_ >= kMaxBinding) co_await bound_.wait();
    const std::string key = co_await queue_.next();
    place(key);
    queue_.done(key);
  }
}

void Scheduler::place(const std::string& key) {
  PodPointer pod = pods_.store().find(key);
  bool wanted =
      pod && pod->spec.node_name.empty() && is_ours(*pod) && !placed_.contains(pod->meta.uid);
  if (!wanted) return;
  order_nodes();
  Choice choice = choose_node(*pod, order_, next_);
  if (!order_.empty()) next_ = (next_ + choice.looked_at) % order_.size();
  if (choice.node.empty()) {
    unschedulable_.insert(key);
    tasks_.spawn("report an unschedulable pod", report(pod, std::move(choice.why_not)));
    return;
  }
  unschedulable_.erase(key);
  put(choice.node, std::make_shared<const PlacedPod>(pod));
  ++binding_;
  tasks_.spawn("bind a pod", bind(pod, std::move(choice.node)));
}

Task<void> Scheduler::bind(PodPointer pod, std::string node) {
  std::string ns(pod->meta.ns), key = kube::object_key(pod->meta);
  json::value binding = json::object{
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"name", pod->meta.name}, {"namespace", ns}, {"uid", pod->meta.uid}}},
      {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  kube::ObjectPath path{.ns = ns, .name = pod->meta.name, .subresource = "binding"};
  auto bound = co_await client_->create(kube::resources::pods, path, std::move(binding));
  --binding_;
  bound_.notify();
  if (bound) {
    record(*pod, kube::EventNote::Type::normal, "Scheduled",
           fmt::format("Successfully assigned {}/{} to {}", ns, pod->meta.name, node));
    co_return;
  }
  // If it has been placed by somebody else, the informer has told us where, or will.
  PodPointer now = pods_.store().find(key);
  if (now && !now->spec.node_name.empty()) co_return;
  forget(pod->meta.uid);
  if (bound.error().code == Code::not_found || bound.error().code == Code::conflict) co_return;
  log::warn("scheduler", "cannot bind a pod", {{"pod", key}, {"error", bound.error()}});
  queue_.retry(key);
}

Task<void> Scheduler::report(PodPointer pod, std::string why) {
  record(*pod, kube::EventNote::Type::warning, "FailedScheduling", why);
  const kube::Condition* condition = scheduled_condition(*pod);
  if (condition != nullptr && condition->reason == "Unschedulable" && condition->message == why)
    co_return;
  json::array conditions{json::object{{"type", "PodScheduled"},
                                      {"observedGeneration", pod->meta.generation},
                                      {"status", "False"},
                                      {"reason", "Unschedulable"},
                                      {"message", why},
                                      {"lastProbeTime", nullptr},
                                      {"lastTransitionTime", format_rfc3339(clock_.wall())}}};
  json::value patch = json::object{{"status", {{"conditions", std::move(conditions)}}}};
  kube::ObjectPath path{
      .ns = std::string(pod->meta.ns), .name = pod->meta.name, .subresource = "status"};
  auto patched = co_await client_->patch(kube::resources::pods, path, kube::PatchType::strategic,
                                         std::move(patch));
  bool gone = !patched && patched.error().code == Code::not_found;
  if (!patched && !gone)
    log::warn("scheduler", "cannot say that a pod waits",
              {{"pod", kube::object_key(pod->meta)}, {"error", patched.error()}});
}

Task<void> Scheduler::retry_unschedulable() {
  for (;;) {
    (void)co_await changed_.wait_until(clock_, clock_.steady() + kRetryAnyway);
    if (unschedulable_.empty()) continue;
    co_await clock_.sleep(kCollect);
    for (const std::string& key : unschedulable_) queue_.add(key);
  }
}

void Scheduler::record(const kube::Pod& pod, kube::EventNote::Type type, std::string reason,
                       std::string message) {
  events_.record({.about = {.api_version = "v1",
                            .kind = "Pod",
                            .ns = std::string(pod.meta.ns),
                            .name = pod.meta.name,
                            .uid = pod.meta.uid},
                  .type = type,
                  .reason = std::move(reason),
                  .message = std::move(message)});
}

}  // namespace plim::local::controllers::scheduler
