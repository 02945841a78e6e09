// Pods that wait for a node: those to be tried now, those that have to wait a while after a failed
// try, and those that wait for something to change. Pure: time is handed in. Belongs to one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "kube/store.hpp"
#include "kube/types.hpp"
#include "sched/cluster_event.hpp"
#include "sched/event_hints.hpp"
#include "sched/queue_entry.hpp"
#include "sched/queue_places.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct QueueOptions {
  Nanos initial_backoff = std::chrono::seconds(1);
  Nanos max_backoff = std::chrono::seconds(10);
  Nanos max_unschedulable = std::chrono::minutes(5);
};

// A pod that waits, for logs and metrics.
struct WaitingPod {
  std::shared_ptr<const kube::Pod> pod;
  std::string_view place;  // "active", "backoff", "unschedulable", "gated", "inFlight"
  std::vector<PluginId> rejected_by;
  bool by_extender = false;
};

class SchedulingQueue {
 public:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  // The plugin that keeps a pod from being tried at all, if one does.
  using Gate = std::function<std::optional<PluginId>(const kube::Pod&)>;
  using Hint = EventHints::Hint;
  using OnHint = EventHints::OnHint;
  using Observe = QueuePlaces::Observe;
  using LaneOf = QueuePlaces::LaneOf;

  // A pod that is being tried. Exactly one of the three ends of a try follows.
  struct Attempt {
    PodPointer pod;
    int attempts = 0;
    SteadyTime first_ready{};  // since when nothing but its turn has kept it from its first try
  };

  SchedulingQueue(QueueOptions options, Gate gate, Observe observe = {}, Hint hint = {},
                  LaneOf lane_of = {});

  void add(PodPointer pod, SteadyTime now);
  // A change of a pod that waits, also while it is being tried; one that is not known is added.
  void update(PodPointer pod, SteadyTime now);
  void remove(std::string_view uid);
  bool contains(std::string_view uid) const;

  // The pod whose turn it is, if there is one.
  std::optional<Attempt> pop(SteadyTime now, PopFrom lanes = PopFrom::all_lanes);

  void assumed(std::string_view uid);  // it has got a node, which the API server is told now
  void done(std::string_view uid);     // it has a node, or is gone
  // No node: it waits for an event that concerns one of the plugins, or any if an extender has
  // refused it. Without either it waits its back-off only.
  void reject(std::string_view uid, const std::vector<PluginId>& plugins, bool by_extender,
              SteadyTime now);
  void fail(std::string_view uid, SteadyTime now);  // by an error that may pass

  void happened(const ClusterEvent& event, SteadyTime now);
  // Moves pods whose waiting is over; to be called at next_flush().
  void flush(SteadyTime now);
  std::optional<SteadyTime> next_flush() const;

  QueueCounts counts() const { return places_.counts(); }

  std::vector<WaitingPod> waiting() const;

  // Events that are kept for pods in flight, by kind.
  std::array<std::size_t, kEventKinds> kept_events() const {
    return places_.events().count_by_kind();
  }

  void watch_hints(Clock& clock, OnHint on_hint) { hints_.watch(clock, std::move(on_hint)); }

  void set_options(QueueOptions options) { options_ = options; }

  // After the rules of gates and lanes have changed, and for tests: looks at all pods that wait
  // again.
  void activate_all(std::string_view event, SteadyTime now);
  // Its turn is now, whatever it waits for, unless a gate keeps it.
  void activate(std::string_view uid, std::string_view event);
  // A gate has opened without an event: whatever the gate kept out meanwhile counts now.
  void gate_opened(std::string_view uid, SteadyTime now);

 private:
  QueueEntry* find(std::string_view uid);
  bool check_gate(QueueEntry& entry, std::string_view event);
  void wait_or_activate(QueueEntry& entry, std::string_view event, SteadyTime now);
  void try_again(QueueEntry& entry, SteadyTime now);

  QueueOptions options_;
  Gate gate_;
  EventHints hints_;
  std::unordered_map<std::string, std::unique_ptr<QueueEntry>, kube::TextHash, std::equal_to<>>
      entries_;  // by uid
  QueuePlaces places_;
  std::uint64_t next_order_ = 0;
  SteadyTime next_timeout_check_{};
};

}  // namespace plim::sched
