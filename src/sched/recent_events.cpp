#include "sched/recent_events.hpp"

namespace plim::sched {

std::uint64_t RecentEvents::begin_try() {
  in_flight_.insert(end());
  return end();
}

void RecentEvents::end_try(std::uint64_t begin) {
  in_flight_.erase(in_flight_.find(begin));
  const std::uint64_t oldest = in_flight_.empty() ? end() : *in_flight_.begin();
  for (; first_ < oldest; ++first_) events_.pop_front();
}

std::array<std::size_t, kEventKinds> RecentEvents::count_by_kind() const {
  std::array<std::size_t, kEventKinds> out{};
  for (const ClusterEvent& event : events_) ++out[static_cast<std::size_t>(event.kind)];
  return out;
}

}  // namespace plim::sched
