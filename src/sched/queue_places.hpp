// The places of the scheduling queue: which pods are to be tried now, wait for their back-off, wait
// for an event, or are being tried.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "sched/queue_entry.hpp"
#include "sched/recent_events.hpp"

namespace plim::sched {

struct QueueCounts {
  std::size_t active = 0, backoff = 0, unschedulable = 0, gated = 0;
};

// Which pods may be taken: pods of the asking lane are skipped while one of them is being tried.
enum class PopFrom : std::uint8_t { all_lanes, quick_lane };

// Does not own entries: each must leave its place before it is destroyed. Belongs to one thread.
class QueuePlaces {
 public:
  // Called for every pod that enters a place, for metrics: "active", "UnschedulablePodAdd".
  using Observe = std::function<void(std::string_view place, std::string_view event)>;
  using LaneOf = std::function<Lane(const kube::Pod&)>;

  QueuePlaces(Observe observe, LaneOf lane_of);

  void enter(QueueEntry& entry, QueuePlace place, std::string_view event);
  void leave(QueueEntry& entry);
  // Puts an entry back into its place, with its current order and lane.
  void put(QueueEntry& entry);

  // Takes the pod whose turn it is out of its place; null if there is none.
  QueueEntry* take_next(PopFrom lanes);

  // A pod whose back-off is over; null if there is none.
  QueueEntry* expired(SteadyTime now) const;
  std::optional<SteadyTime> next_expiry() const;

  const std::set<QueueEntry*>& unschedulable() const { return unschedulable_; }

  QueueCounts counts() const;

  // Events since the oldest try began.
  RecentEvents& events() { return events_; }

  const RecentEvents& events() const { return events_; }

 private:
  struct ByPriority {
    bool operator()(const QueueEntry* a, const QueueEntry* b) const;
  };

  struct ByExpiry {
    bool operator()(const QueueEntry* a, const QueueEntry* b) const;
  };

  // By lane.
  template <class Order>
  using Lanes = std::array<std::set<QueueEntry*, Order>, 2>;

  template <class Order>
  static QueueEntry* first_of(const Lanes<Order>& places, PopFrom lanes);

  Observe observe_;
  LaneOf lane_of_;
  Lanes<ByPriority> active_;
  Lanes<ByExpiry> backoff_;
  std::set<QueueEntry*, ByExpiry> error_backoff_;
  std::set<QueueEntry*> unschedulable_;
  RecentEvents events_;
};

}  // namespace plim::sched
