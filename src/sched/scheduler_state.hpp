// The scheduler's state: the cluster as decisions see it, and the queue of waiting pods. Every
// change is applied to both, so that it wakes the pods that it may help. No I/O. Belongs to one
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "kube/store.hpp"
#include "sched/config.hpp"
#include "sched/preempt_holds.hpp"
#include "sched/scheduling_queue.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct StateOptions {
  std::shared_ptr<const Configuration> config;
  Nanos max_unschedulable = std::chrono::minutes(5);
  bool defer_claims = false;  // another scheduler handles pods with resource claims
};

class SchedulerState {
 public:
  using NodePointer = std::shared_ptr<const kube::Node>;

  struct Callbacks {
    std::function<void()> on_change;                           // there may be a pod to try now
    std::function<void(EventKind, Nanos took)> on_event = {};  // how long it took to wake pods
  };

  SchedulerState(StateOptions options, SchedulingQueue::Observe observe,
                 SchedulingQueue::LaneOf lane_of, Callbacks callbacks, Clock& clock);
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  // `before` is null for a new object.
  void pod_changed(const PodPointer& before, const PodPointer& pod);
  void pod_gone(const PodPointer& pod);
  void node_changed(const NodePointer& before, const NodePointer& node);
  void node_gone(const NodePointer& node);
  void happened(const ClusterEvent& event);

  // Counts the pod on the node until the watch shows it there.
  void assume(const PodPointer& pod, const std::string& node);
  // Undoes assume().
  void forget(const PodPointer& pod);

  bool is_assumed(std::string_view uid) const { return assumed_.contains(std::string(uid)); }

  std::size_t assumed() const { return assumed_.size(); }

  // The caller is going to evict the victims for this pod. The pod is held until their deletion has
  // begun. Returns the pods that lose their nomination for the node.
  std::vector<PodPointer> make_room(const PodPointer& preemptor, std::string_view node,
                                    std::span<const PodPointer> victims);
  void victim_leaves(std::string_view uid);
  // A victim cannot be evicted: the preemptor is tried again.
  void victim_stays(std::string_view preemptor);

  // This may change which pods are ours; all waiting pods are checked again.
  void set_config(std::shared_ptr<const Configuration> config, const kube::Store<kube::Pod>& pods);

  const std::shared_ptr<const Configuration>& config() const { return options_.config; }

  // Whether this scheduler has to place the pod.
  bool is_ours(const kube::Pod& pod) const;

  Engine& engine() { return engine_; }

  const Engine& engine() const { return engine_; }

  SchedulingQueue& queue() { return queue_; }

  const SchedulingQueue& queue() const { return queue_; }

 private:
  QueueOptions queue_options() const;
  std::optional<PluginId> gate_of(const kube::Pod& pod) const;
  void note_nomination(const PodPointer& before, const PodPointer& pod);

  StateOptions options_;
  Callbacks callbacks_;
  Clock& clock_;
  Engine engine_;
  SchedulingQueue queue_;
  PreemptHolds holds_;
  std::unordered_set<std::string> assumed_;  // by uid
};

}  // namespace plim::sched
