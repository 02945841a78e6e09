#include "sched/queue_places.hpp"

#include <tuple>
#include <utility>

namespace plim::sched {

bool QueuePlaces::ByPriority::operator()(const QueueEntry* a, const QueueEntry* b) const {
  if (a->pod->spec.priority != b->pod->spec.priority)
    return a->pod->spec.priority > b->pod->spec.priority;
  return std::tie(a->since, a->order) < std::tie(b->since, b->order);
}

bool QueuePlaces::ByExpiry::operator()(const QueueEntry* a, const QueueEntry* b) const {
  if (a->expiry != b->expiry) return a->expiry < b->expiry;
  return ByPriority()(a, b);
}

QueuePlaces::QueuePlaces(Observe observe, LaneOf lane_of)
    : observe_(std::move(observe)), lane_of_(std::move(lane_of)) {}

void QueuePlaces::enter(QueueEntry& entry, QueuePlace place, std::string_view event) {
  entry.place = place;
  put(entry);
  if (!observe_ || place == QueuePlace::in_flight || place == QueuePlace::binding) return;
  if (place == QueuePlace::active)
    observe_("active", event);
  else
    observe_(place == QueuePlace::unschedulable ? "unschedulable" : "backoff", event);
}

void QueuePlaces::leave(QueueEntry& entry) {
  const auto lane = static_cast<std::size_t>(entry.lane);
  switch (entry.place) {
    case QueuePlace::active:
      active_[lane].erase(&entry);
      break;
    case QueuePlace::backoff:
      backoff_[lane].erase(&entry);
      break;
    case QueuePlace::error_backoff:
      error_backoff_.erase(&entry);
      break;
    case QueuePlace::unschedulable:
      unschedulable_.erase(&entry);
      break;
    case QueuePlace::in_flight:
      events_.end_try(entry.seen_events);
      break;
    case QueuePlace::binding:
      break;
  }
}

void QueuePlaces::put(QueueEntry& entry) {
  entry.lane = lane_of_ ? lane_of_(*entry.pod) : Lane::quick;
  const auto lane = static_cast<std::size_t>(entry.lane);
  switch (entry.place) {
    case QueuePlace::active:
      active_[lane].insert(&entry);
      break;
    case QueuePlace::backoff:
      backoff_[lane].insert(&entry);
      break;
    case QueuePlace::error_backoff:
      error_backoff_.insert(&entry);
      break;
    case QueuePlace::unschedulable:
      unschedulable_.insert(&entry);
      break;
    case QueuePlace::in_flight:
      entry.seen_events = events_.begin_try();
      break;
    case QueuePlace::binding:
      break;
  }
}

template <class Order>
QueueEntry* QueuePlaces::first_of(const Lanes<Order>& places, PopFrom lanes) {
  const auto& [quick, asking] = places;
  QueueEntry* out = quick.empty() ? nullptr : *quick.begin();
  if (lanes == PopFrom::quick_lane || asking.empty()) return out;
  return out == nullptr || Order()(*asking.begin(), out) ? *asking.begin() : out;
}

QueueEntry* QueuePlaces::take_next(PopFrom lanes) {
  QueueEntry* entry = first_of(active_, lanes);
  if (entry == nullptr) {
    // No other pod is ready, so there is no reason to wait for the back-off.
    entry = first_of(backoff_, lanes);
    if (entry == nullptr) return nullptr;
    if (observe_) observe_("active", "PopFromBackoffQ");
  }
  leave(*entry);
  return entry;
}

QueueEntry* QueuePlaces::expired(SteadyTime now) const {
  for (const auto* waiting : {&backoff_[0], &backoff_[1], &error_backoff_})
    if (!waiting->empty() && (*waiting->begin())->expiry <= now) return *waiting->begin();
  return nullptr;
}

std::optional<SteadyTime> QueuePlaces::next_expiry() const {
  std::optional<SteadyTime> out;
  for (const auto* waiting : {&backoff_[0], &backoff_[1], &error_backoff_})
    if (!waiting->empty() && (!out || (*waiting->begin())->expiry < *out))
      out = (*waiting->begin())->expiry;
  return out;
}

QueueCounts QueuePlaces::counts() const {
  QueueCounts out{.active = active_[0].size() + active_[1].size(),
                  .backoff = backoff_[0].size() + backoff_[1].size() + error_backoff_.size()};
  for (const QueueEntry* entry : unschedulable_)
    ++(entry->gated_by ? out.gated : out.unschedulable);
  return out;
}

}  // namespace plim::sched
