#include "sched/scheduler_state.hpp"

#include <algorithm>

#include "kube/scheduling_gates.hpp"
#include "sched/queue_hints.hpp"

namespace plim::sched {
namespace {

bool runs_at(const std::vector<PluginId>& plugins, PluginId plugin) {
  return std::ranges::find(plugins, plugin) != plugins.end();
}

}  // namespace

SchedulerState::SchedulerState(StateOptions options, SchedulingQueue::Observe observe,
                               SchedulingQueue::LaneOf lane_of, Callbacks callbacks, Clock& clock)
    : options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      clock_(clock),
      queue_(
          queue_options(), [this](const kube::Pod& pod) { return gate_of(pod); },
          std::move(observe),
          [this](PluginId plugin, const ClusterEvent& event, const kube::Pod& pod) {
            const Profile* profile = options_.config->profile_named(pod.spec.scheduler_name);
            return profile == nullptr || may_help(plugin, event, pod, engine_.cluster(), *profile);
          },
          std::move(lane_of)) {
  engine_.follow(options_.config->release);
}

bool SchedulerState::is_ours(const kube::Pod& pod) const {
  if (options_.defer_claims && !pod.spec.resource_claims.empty()) return false;
  return options_.config->profile_named(pod.spec.scheduler_name) != nullptr;
}

QueueOptions SchedulerState::queue_options() const {
  return {.initial_backoff = std::chrono::seconds(options_.config->initial_backoff_seconds),
          .max_backoff = std::chrono::seconds(options_.config->max_backoff_seconds),
          .max_unschedulable = options_.max_unschedulable};
}

std::optional<PluginId> SchedulerState::gate_of(const kube::Pod& pod) const {
  const Profile* profile = options_.config->profile_named(pod.spec.scheduler_name);
  if (profile == nullptr) return std::nullopt;
  if (kube::has_scheduling_gates(pod) && runs_at(profile->pre_enqueue, PluginId::SchedulingGates))
    return PluginId::SchedulingGates;
  if (holds_.holds(pod.meta.uid) && runs_at(profile->pre_enqueue, PluginId::DefaultPreemption))
    return PluginId::DefaultPreemption;
  return std::nullopt;
}

void SchedulerState::set_config(std::shared_ptr<const Configuration> config,
                                const kube::Store<kube::Pod>& pods) {
  options_.config = std::move(config);
  engine_.forget_classes();  // they belong to the old profiles
  queue_.set_options(queue_options());
  for (const auto& [key, pod] : pods)
    if (pod->spec.node_name.empty() && !assumed_.contains(pod->meta.uid)) {
      if (!is_ours(*pod)) {
        queue_.remove(pod->meta.uid);
        engine_.forget_nomination(pod->meta.uid);
      } else if (!queue_.contains(pod->meta.uid)) {
        note_nomination(nullptr, pod);
        queue_.add(pod, clock_.steady());
      }
    }
  queue_.activate_all("ForceActivate", clock_.steady());
  callbacks_.on_change();
}

void SchedulerState::happened(const ClusterEvent& event) {
  const SteadyTime now = clock_.steady();
  queue_.happened(event, now);
  if (callbacks_.on_event) callbacks_.on_event(event.kind, clock_.steady() - now);
  callbacks_.on_change();
}

void SchedulerState::note_nomination(const PodPointer& before, const PodPointer& pod) {
  const std::string_view was = before ? before->status.nominated_node.view() : std::string_view();
  const std::string_view now = pod->status.nominated_node;
  if (was == now) return;
  engine_.forget_nomination(pod->meta.uid);
  if (!now.empty()) engine_.nominate(pod, now);
  // The node's room is free again for pods of lower priority.
  if (!was.empty())
    happened({.kind = EventKind::AssignedPodDelete,
              .pod = before,
              .up_to_priority = before->spec.priority});
}

void SchedulerState::pod_changed(const PodPointer& before, const PodPointer& pod) {
  const std::string& uid = pod->meta.uid;
  if (!pod->spec.node_name.empty()) {
    const bool was_ours = assumed_.erase(uid) > 0;
    engine_.forget_nomination(uid);
    engine_.set_pod(pod);
    if (!was_ours) queue_.remove(uid);
    if (pod->meta.deleted) victim_leaves(uid);
    if (!before || before->spec.node_name.empty()) {
      happened({.kind = EventKind::AssignedPodAdd, .pod = pod});
      return;
    }
    for (const EventKind kind : changes_of_assigned(*before, *pod))
      happened({.kind = kind, .pod_before = before, .pod = pod});
    return;
  }
  if (!is_ours(*pod)) return;
  if (assumed_.contains(uid)) {
    // The update was written before the binding, so it matters only if the binding fails.
    if (queue_.contains(uid)) queue_.update(pod, clock_.steady());
    return;
  }
  note_nomination(before, pod);
  queue_.update(pod, clock_.steady());
  callbacks_.on_change();
}

void SchedulerState::pod_gone(const PodPointer& pod) {
  const std::string& uid = pod->meta.uid;
  const bool counted = !pod->spec.node_name.empty() || assumed_.contains(uid);
  queue_.remove(uid);
  assumed_.erase(uid);
  holds_.end(uid);
  engine_.forget_nomination(uid);
  engine_.remove_pod(uid);
  victim_leaves(uid);
  ClusterEvent event{.kind = EventKind::AssignedPodDelete, .pod = pod};
  if (!counted) event.up_to_priority = pod->spec.priority;  // it was only nominated
  if (counted || !pod->status.nominated_node.empty()) happened(event);
}

std::vector<PodPointer> SchedulerState::make_room(const PodPointer& preemptor,
                                                  std::string_view node,
                                                  std::span<const PodPointer> victims) {
  std::vector<PodPointer> yielding = placement::nominated_below(engine_, *preemptor, node);
  for (const PodPointer& one : yielding) engine_.forget_nomination(one->meta.uid);
  engine_.nominate(preemptor, node);
  holds_.begin(preemptor->meta.uid, victims);
  return yielding;
}

void SchedulerState::victim_leaves(std::string_view uid) {
  for (const std::string& preemptor : holds_.leaves(uid)) {
    queue_.gate_opened(preemptor, clock_.steady());
    callbacks_.on_change();
  }
}

void SchedulerState::victim_stays(std::string_view preemptor) {
  if (!holds_.end(preemptor)) return;
  queue_.activate(preemptor, "ForceActivate");
  callbacks_.on_change();
}

void SchedulerState::node_changed(const NodePointer& before, const NodePointer& node) {
  engine_.set_node(*node);
  if (!before) return happened({.kind = EventKind::NodeAdd, .node = node});
  for (const EventKind kind : changes_of(*before, *node))
    happened({.kind = kind, .node_before = before, .node = node});
}

void SchedulerState::node_gone(const NodePointer& node) {
  engine_.remove_node(node->meta.name);
  happened({.kind = EventKind::NodeDelete, .node_before = node});
}

void SchedulerState::assume(const PodPointer& pod, const std::string& node) {
  engine_.forget_nomination(pod->meta.uid);
  engine_.set_pod(pod, node);
  assumed_.insert(pod->meta.uid);
  queue_.assumed(pod->meta.uid);
}

void SchedulerState::forget(const PodPointer& pod) {
  if (assumed_.erase(pod->meta.uid) == 0) return;
  engine_.remove_pod(pod->meta.uid);
  happened({.kind = EventKind::AssignedPodDelete, .pod = pod});
}

}  // namespace plim::sched
