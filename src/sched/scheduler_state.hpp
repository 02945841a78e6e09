// What the scheduler knows: the cluster as decisions see it, and the pods that wait. A change is
// told to both here, so that what it frees wakes whoever waits for it. No I/O. Belongs to one
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
  bool defer_claims = false;  // pods with resource claims are another scheduler's
};

class SchedulerState {
 public:
  using NodePointer = std::shared_ptr<const kube::Node>;

  struct Callbacks {
    std::function<void()> on_change;  // there may be something to decide now
    std::function<void(EventKind, Nanos took)> on_event = {};  // what it cost to wake pods by it
  };

  SchedulerState(StateOptions options, SchedulingQueue::Observe observe,
                 SchedulingQueue::LaneOf lane_of, Callbacks callbacks, Clock& clock);
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  // `before` is null for what was not known.
  void pod_changed(const PodPointer& before, const PodPointer& pod);
  void pod_gone(const PodPointer& pod);
  void node_changed(const NodePointer& before, const NodePointer& node);
  void node_gone(const NodePointer& node);
  void happened(ClusterEvent event);

  // The pod counts on the node from now on, until the watch says so too.
  void assume(const PodPointer& pod, const std::string& node);
  // Takes that back.
  void forget(const PodPointer& pod);

  bool is_assumed(std::string_view uid) const { return assumed_.contains(std::string(uid)); }

  std::size_t assumed() const { return assumed_.size(); }

  // Others are going to be removed from the node for this pod, which is held until that is known to
  // be under way. Returns the pods that were nominated for the node and are no longer.
  std::vector<PodPointer> make_room(const PodPointer& preemptor, std::string_view node,
                                    std::span<const PodPointer> victims);
  void victim_leaves(std::string_view uid);
  // One victim cannot be removed: the pod has to think again.
  void victim_stays(std::string_view preemptor);

  // Which pods are ours may change with it; all that wait are looked at again.
  void set_config(std::shared_ptr<const Configuration> config, const kube::Store<kube::Pod>& pods);

  const std::shared_ptr<const Configuration>& config() const { return options_.config; }

  // Whether a pod without a node waits for us.
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
