// The pods that wait for a node: pods to try now, pods that back off after a failed try, and pods
// that wait for an event. Pure: the caller passes the time. Belongs to one thread.
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

// A waiting pod, for logs and metrics.
struct WaitingPod {
  std::shared_ptr<const kube::Pod> pod;
  std::string_view place;  // "active", "backoff", "unschedulable", "gated", "inFlight"
  std::vector<PluginId> rejected_by;
  bool by_extender = false;
};

class SchedulingQueue {
 public:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  // The plugin that gates the pod, if one does.
  using Gate = std::function<std::optional<PluginId>(const kube::Pod&)>;
  using Hint = EventHints::Hint;
  using OnHint = EventHints::OnHint;
  using Observe = QueuePlaces::Observe;
  using LaneOf = QueuePlaces::LaneOf;

  // A pod that is being tried. The caller ends the try with exactly one of done(), reject() and
  // fail().
  struct Attempt {
    PodPointer pod;
    int attempts = 0;
    SteadyTime first_ready{};  // since when it has only waited for its turn for the first try
    bool timed_out = false;    // no event woke it: it waited too long
  };

  SchedulingQueue(QueueOptions options, Gate gate, Observe observe = {}, Hint hint = {},
                  LaneOf lane_of = {});

  void add(PodPointer pod, SteadyTime now);
  // A change of a waiting pod, also while it is being tried; adds an unknown pod.
  void update(PodPointer pod, SteadyTime now);
  void remove(std::string_view uid);
  bool contains(std::string_view uid) const;

  // The pod whose turn it is, if there is one.
  std::optional<Attempt> pop(SteadyTime now, PopFrom lanes = PopFrom::all_lanes);

  void assumed(std::string_view uid);  // it has a node and is being bound
  void done(std::string_view uid);     // it has a node, or is gone
  // There is no node: the pod waits for an event that concerns one of the plugins, or for any event
  // if an extender rejected it. Without either it only backs off.
  void reject(std::string_view uid, const std::vector<PluginId>& plugins, bool by_extender,
              SteadyTime now);
  void fail(std::string_view uid, SteadyTime now);  // an error that may be temporary

  void happened(const ClusterEvent& event, SteadyTime now);
  // Moves pods whose waiting time is over; call it at next_flush().
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

  // Checks all waiting pods again, after the rules of gates and lanes have changed, and for tests.
  void activate_all(std::string_view event, SteadyTime now);
  // Activates the pod whatever it waits for, unless it is gated.
  void activate(std::string_view uid, std::string_view event);
  // A gate has opened without an event: events that happened while the pod was gated count now.
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
