// Pods that wait for a node: those to be tried now, those that have to wait a while after a failed
// try, and those that wait for something to change. Pure: time is handed in. Belongs to one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "kube/store.hpp"
#include "kube/types.hpp"
#include "sched/cluster_event.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct QueueOptions {
  Nanos initial_backoff = std::chrono::seconds(1);
  Nanos max_backoff = std::chrono::seconds(10);
  Nanos max_unschedulable = std::chrono::minutes(5);
};

struct QueueCounts {
  std::size_t active = 0, backoff = 0, unschedulable = 0, gated = 0;
};

// A pod that waits, for whoever looks into the queue.
struct WaitingPod {
  std::shared_ptr<const kube::Pod> pod;
  std::string_view place;  // "active", "backoff", "unschedulable", "gated", "inFlight"
  std::vector<PluginId> rejected_by;
  bool by_extender = false;
};

// Pods about which others have to be asked over the network are tried in a lane of their own, so
// that nobody waits behind them.
enum class Lane : std::uint8_t { quick, asking };

class SchedulingQueue {
 public:
  using PodPointer = std::shared_ptr<const kube::Pod>;
  // The plugin that keeps a pod from being tried at all, if one does.
  using Gate = std::function<std::optional<PluginId>(const kube::Pod&)>;
  // Whether an event may let the pod pass a plugin that refused it.
  using Hint = std::function<bool(PluginId, const ClusterEvent&, const kube::Pod&)>;
  // Told of every pod that gets into a place, for metrics: "active", "UnschedulablePodAdd".
  using Observe = std::function<void(std::string_view place, std::string_view event)>;
  using LaneOf = std::function<Lane(const kube::Pod&)>;

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

  std::optional<Attempt> pop(SteadyTime now);
  std::optional<Attempt> pop_quick(SteadyTime now);  // none that has to ask others

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

  QueueCounts counts() const;
  std::vector<WaitingPod> waiting() const;
  // Events that are kept for pods in flight, by kind.
  std::array<std::size_t, kEventKinds> kept_events() const;

  // Told of one of ten questions to a plugin's hint: whether it helps, and how long that took.
  using OnHint = std::function<void(PluginId, EventKind, bool helps, Nanos took)>;

  void watch_hints(Clock& clock, OnHint on_hint) {
    hint_clock_ = &clock;
    on_hint_ = std::move(on_hint);
  }

  void set_options(QueueOptions options) { options_ = options; }

  // After the rules of gates and lanes have changed, and for tests: looks at all pods that wait
  // again.
  void activate_all(std::string_view event, SteadyTime now);
  // Its turn is now, whatever it waits for, unless a gate keeps it.
  void activate(std::string_view uid, std::string_view event);
  // A gate has opened without an event: whatever the gate kept out meanwhile counts now.
  void gate_opened(std::string_view uid, SteadyTime now);

 private:
  enum class Place : std::uint8_t {
    active,
    backoff,
    error_backoff,
    unschedulable,
    in_flight,
    binding
  };

  struct Entry {
    PodPointer pod;
    Place place = Place::unschedulable;
    std::optional<PluginId> gated_by;
    bool removed = false;  // while in flight
    bool by_extender = false;
    bool woken = false;  // by an event, so that it may be tried before its back-off is over
    int attempts = 0, unschedulable_count = 0, consecutive_errors = 0;
    std::uint32_t interest = 0;  // which kinds of events its plugins ask for
    std::uint64_t order = 0;     // tells equals apart
    Lane lane = Lane::quick;     // while active or backing off
    std::uint64_t seen_events = 0;
    std::vector<PluginId> rejected_by;
    SteadyTime since{};   // when it last got into the queue
    SteadyTime expiry{};  // of its back-off
    std::optional<SteadyTime> first_ready;
  };

  struct ByPriority {
    bool operator()(const Entry* a, const Entry* b) const;
  };

  struct ByExpiry {
    bool operator()(const Entry* a, const Entry* b) const;
  };

  // By lane.
  template <class Order>
  using Lanes = std::array<std::set<Entry*, Order>, 2>;

  template <class Order>
  static Entry* first_of(const Lanes<Order>& lanes, bool asking_too);
  std::optional<Attempt> pop_from(bool asking_too, SteadyTime now);
  Entry* find(std::string_view uid);
  void put(Entry& entry);
  void leave(Entry& entry);
  void enter(Entry& entry, Place place, std::string_view event);
  void wait_or_activate(Entry& entry, std::string_view event, SteadyTime now);
  bool helps(const Entry& entry, const ClusterEvent& event);
  bool ask_hint(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod);
  bool check_gate(Entry& entry, std::string_view event);
  Nanos backoff_of(const Entry& entry) const;
  void try_again(Entry& entry, SteadyTime now);

  QueueOptions options_;
  Gate gate_;
  Observe observe_;
  Hint hint_;
  LaneOf lane_of_;
  OnHint on_hint_;
  Clock* hint_clock_ = nullptr;
  std::uint64_t hints_ = 0;
  std::unordered_map<std::string, std::unique_ptr<Entry>, kube::TextHash, std::equal_to<>> entries_;
  Lanes<ByPriority> active_;
  Lanes<ByExpiry> backoff_;
  std::set<Entry*, ByExpiry> error_backoff_;
  std::set<Entry*> unschedulable_;
  std::multiset<std::uint64_t> in_flight_;  // the next event when each try began
  std::deque<ClusterEvent> recent_;         // since the oldest of them
  std::uint64_t first_recent_ = 0;          // number of recent_.front()
  std::uint64_t next_order_ = 0;
  SteadyTime next_timeout_check_{};
};

}  // namespace plim::sched
