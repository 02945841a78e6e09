// Events that arrive while pods are being tried. If a try fails, one of them may already have
// helped its pod.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "sched/cluster_event.hpp"

namespace plim::sched {

// Keeps the events since the oldest try in flight began. Belongs to one thread.
class RecentEvents {
 public:
  // A try begins: returns the number of the next event.
  std::uint64_t begin_try();
  // Ends the try that began at that number, and forgets the events no other try needs.
  void end_try(std::uint64_t begin);

  // Whether a pod is in flight. If none is, nothing needs to be added.
  bool needed() const { return !in_flight_.empty(); }

  void add(ClusterEvent event) { events_.push_back(std::move(event)); }

  // Whether the predicate is true for an event from that number on.
  template <class Predicate>
  bool any_since(std::uint64_t number, Predicate predicate) const {
    for (std::uint64_t at = number < first_ ? first_ : number; at < end(); ++at)
      if (predicate(events_[static_cast<std::size_t>(at - first_)])) return true;
    return false;
  }

  std::array<std::size_t, kEventKinds> count_by_kind() const;

 private:
  std::uint64_t end() const { return first_ + events_.size(); }

  std::multiset<std::uint64_t> in_flight_;  // the number of the next event when each try began
  std::deque<ClusterEvent> events_;
  std::uint64_t first_ = 0;  // number of events_.front()
};

}  // namespace plim::sched
