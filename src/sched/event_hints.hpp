// Asks plugins whether an event may help a pod that they have rejected.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.hpp"
#include "sched/cluster_event.hpp"
#include "sched/queue_entry.hpp"

namespace plim::sched {

// Belongs to one thread.
class EventHints {
 public:
  // Whether an event may let the pod pass a plugin that rejected it.
  using Hint = std::function<bool(PluginId, const ClusterEvent&, const kube::Pod&)>;
  // Called for one of ten calls of a hint: whether the event may help, and how long the hint took.
  using OnHint = std::function<void(PluginId, EventKind, bool helps, Nanos took)>;

  // Without a hint, the plugins' own ones are asked.
  explicit EventHints(Hint hint) : hint_(std::move(hint)) {}

  void watch(Clock& clock, OnHint on_hint) {
    clock_ = &clock;
    on_hint_ = std::move(on_hint);
  }

  bool helps(const QueueEntry& entry, const ClusterEvent& event);

 private:
  bool ask(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod);

  Hint hint_;
  OnHint on_hint_;
  Clock* clock_ = nullptr;
  std::uint64_t asked_ = 0;
};

}  // namespace plim::sched
