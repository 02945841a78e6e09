#include "local/controllers/pod_scheduler.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/scheduling_gates.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kName = "default-scheduler", kScheduled = "PodScheduled";
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

// kube-scheduler's default profile without the plugins for volumes: nobody here binds claims to
// volumes, and the node gives each claim a directory.
placement::Profile local_profile() {
  using enum placement::PluginId;
  placement::Profile out = placement::default_profile();
  for (const auto plugin : {VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone}) {
    std::erase(out.pre_filter, plugin);
    std::erase(out.filter, plugin);
    std::erase_if(out.score, [&](const auto& scoring) { return scoring.plugin == plugin; });
  }
  return out;
}

bool may_place(const kube::Pod& pod) {
  return pod.spec.scheduler_name == kName && !pod.meta.deleted && !kube::has_scheduling_gates(pod);
}

// Heartbeats change nodes all the time without changing what fits there.
bool may_fit_more(const kube::Node& before, const kube::Node& now) {
  auto same_taint = [](const kube::Taint& a, const kube::Taint& b) {
    return a.key == b.key && a.value == b.value && a.effect == b.effect;
  };
  return before.unschedulable != now.unschedulable ||
         !std::ranges::equal(before.allocatable, now.allocatable) ||
         !std::ranges::equal(before.meta.labels, now.meta.labels) ||
         !std::ranges::equal(before.taints, now.taints, same_taint);
}

}  // namespace

PodScheduler::PodScheduler(const Executor& loop, std::shared_ptr<kube::Client> client, Clock& clock)
    : client_(std::move(client)),
      clock_(clock),
      pods_(loop, client_, kube::resources::pods, kube::pod_codec(pool_), live_pods(), clock),
      nodes_(loop, client_, kube::resources::nodes, kube::node_codec(pool_), {}, clock),
      namespaces_(loop, client_, kube::resources::namespaces, kube::meta_codec(pool_), {}, clock),
      services_(loop, client_, kube::resources::services,
                placement::selecting_codec("Service", pool_), {}, clock),
      replica_sets_(loop, client_, kube::resources::replica_sets,
                    placement::selecting_codec("ReplicaSet", pool_), {}, clock),
      events_(loop, client_, {.component = std::string(kName)}, clock, kEventQueue),
      queue_(loop, {.first = 1s, .limit = 10s}, clock),
      profile_(local_profile()),
      bound_(loop),
      changed_(loop),
      tasks_(loop) {
  pods_.add_handlers({.on_add = [this](const PodPointer& pod) { pod_changed(nullptr, pod); },
                      .on_update = [this](const PodPointer& before,
                                          const PodPointer& now) { pod_changed(before, now); },
                      .on_delete = [this](const PodPointer& pod) { pod_gone(pod); }});
  nodes_.add_handlers(
      {.on_add = [this](const NodePointer& node) { node_changed(nullptr, node); },
       .on_update = [this](const NodePointer& before,
                           const NodePointer& now) { node_changed(before, now); },
       .on_delete = [this](const NodePointer& node) { engine_.remove_node(node->meta.name); }});
  follow_namespaces();
  follow_owners(services_);
  follow_owners(replica_sets_);
}

// Their labels, by which pods choose whom to be near.
void PodScheduler::follow_namespaces() {
  const auto set = [this](const kube::ObjectMeta& meta) {
    engine_.set_namespace(meta.name, meta.labels);
  };
  namespaces_.add_handlers(
      {.on_add = [set](const auto& meta) { set(*meta); },
       .on_update = [set](const auto&, const auto& meta) { set(*meta); },
       .on_delete = [this](const auto& meta) { engine_.remove_namespace(meta->name); }});
}

// The pods that one of them selects are spread over nodes and zones.
void PodScheduler::follow_owners(Selecting& informer) {
  const auto set = [this](const placement::SelectingObject& object) {
    engine_.set_selector_owner(object.owner);
  };
  const auto remove = [this](const placement::SelectorOwner& owner) {
    engine_.remove_selector_owner(owner.kind, owner.ns, owner.name);
  };
  informer.add_handlers({.on_add = [set](const auto& object) { set(*object); },
                         .on_update = [set](const auto&, const auto& object) { set(*object); },
                         .on_delete = [remove](const auto& object) { remove(object->owner); }});
}

void PodScheduler::start() {
  pods_.start();
  nodes_.start();
  namespaces_.start();
  services_.start();
  replica_sets_.start();
  events_.start();
  tasks_.spawn("scheduler", place_pods());
  tasks_.spawn("scheduler's second tries", retry_unschedulable());
}

Task<void> PodScheduler::stop() {
  co_await tasks_.stop();
  co_await pods_.stop();
  co_await nodes_.stop();
  co_await namespaces_.stop();
  co_await services_.stop();
  co_await replica_sets_.stop();
  co_await events_.stop();
}

// On a node, or on its way there.
bool PodScheduler::has_place(const kube::Pod& pod) const {
  return engine_.cluster().pods().find(placement::pod_key(pod)) != nullptr;
}

void PodScheduler::pod_changed(const PodPointer& before, const PodPointer& pod) {
  std::string key = kube::object_key(pod->meta);
  if (!pod->spec.node_name.empty()) {
    unschedulable_.erase(key);
    queue_.forget(key);
    engine_.set_pod(pod);
    changed_.notify();  // somebody may want to be near it
    return;
  }
  // One that is being bound is settled; what we hear of it was written before.
  if (has_place(*pod)) return;
  // That it waits is written by ourselves.
  bool same = before && before->meta.generation == pod->meta.generation;
  if (same && unschedulable_.contains(key)) return;
  if (may_place(*pod)) queue_.add(key);
}

void PodScheduler::pod_gone(const PodPointer& pod) {
  std::string key = kube::object_key(pod->meta);
  unschedulable_.erase(key);
  queue_.forget(key);
  engine_.remove_pod(placement::pod_key(*pod));
  changed_.notify();
}

void PodScheduler::node_changed(const NodePointer& before, const NodePointer& node) {
  engine_.set_node(*node);
  if (!before || may_fit_more(*before, *node)) changed_.notify();
}

Task<void> PodScheduler::place_pods() {
  co_await pods_.wait_synced();
  co_await nodes_.wait_synced();
  co_await namespaces_.wait_synced();
  co_await services_.wait_synced();
  co_await replica_sets_.wait_synced();
  for (;;) {
    while (binding_ >= kMaxBinding) co_await bound_.wait();
    const std::string key = co_await queue_.next();
    place(key);
    queue_.done(key);
  }
}

void PodScheduler::place(const std::string& key) {
  PodPointer pod = pods_.store().find(key);
  const bool wanted = pod && pod->spec.node_name.empty() && may_place(*pod) && !has_place(*pod);
  if (!wanted) return;
  const placement::DecideOptions options{.draw = decisions_++, .now = clock_.wall()};
  placement::Decision decision = engine_.decide(*pod, profile_, options);
  if (decision.node.empty()) {
    unschedulable_.insert(key);
    tasks_.spawn("report an unschedulable pod", report(pod, std::move(decision.message)));
    return;
  }
  unschedulable_.erase(key);
  engine_.set_pod(pod, decision.node);
  ++binding_;
  tasks_.spawn("bind a pod", bind(pod, std::move(decision.node)));
}

Task<void> PodScheduler::bind(PodPointer pod, std::string node) {
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
  engine_.remove_pod(placement::pod_key(*pod));
  if (bound.error().code == Code::not_found || bound.error().code == Code::conflict) co_return;
  log::warn("scheduler", "cannot bind a pod", {{"pod", key}, {"error", bound.error()}});
  queue_.retry(key);
}

Task<void> PodScheduler::report(PodPointer pod, std::string why) {
  record(*pod, kube::EventNote::Type::warning, "FailedScheduling", why);
  const kube::Condition* condition = find_condition(pod->status.conditions, kScheduled);
  if (condition != nullptr && condition->reason == "Unschedulable" && condition->message == why)
    co_return;
  json::array conditions{json::object{{"type", kScheduled},
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

Task<void> PodScheduler::retry_unschedulable() {
  for (;;) {
    (void)co_await changed_.wait_until(clock_, clock_.steady() + kRetryAnyway);
    if (unschedulable_.empty()) continue;
    co_await clock_.sleep(kCollect);
    for (const std::string& key : unschedulable_) queue_.add(key);
  }
}

void PodScheduler::record(const kube::Pod& pod, kube::EventNote::Type type, std::string reason,
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

}  // namespace plim::local::controllers
