#include "sched/scheduling_queue.hpp"

#include <algorithm>
#include <utility>

namespace plim::sched {
namespace {

constexpr std::chrono::seconds kTimeoutCheck{30};

// Rounds the end of a back-off up to a whole second, so that pods whose back-offs end together are
// sorted by priority. Rounding down would make a back-off of one second void.
SteadyTime whole_second(SteadyTime time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

Nanos backoff_of(const QueueEntry& entry, const QueueOptions& options) {
  const int count =
      entry.consecutive_errors > 0 ? entry.consecutive_errors : entry.unschedulable_count;
  if (count <= 0) return Nanos(0);
  Nanos out = options.initial_backoff;
  for (int step = 1; step < count && out < options.max_backoff; ++step) out *= 2;
  return std::min(out, options.max_backoff);
}

// The name in metrics and logs.
std::string_view place_name(const QueueEntry& entry) {
  if (entry.place == QueuePlace::active) return "active";
  if (entry.place == QueuePlace::in_flight) return "inFlight";
  if (entry.place == QueuePlace::unschedulable) return entry.gated_by ? "gated" : "unschedulable";
  return "backoff";
}

}  // namespace

SchedulingQueue::SchedulingQueue(QueueOptions options, Gate gate, Observe observe, Hint hint,
                                 LaneOf lane_of)
    : options_(options),
      gate_(std::move(gate)),
      hints_(std::move(hint)),
      places_(std::move(observe), std::move(lane_of)) {}

QueueEntry* SchedulingQueue::find(std::string_view uid) {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.get();
}

bool SchedulingQueue::contains(std::string_view uid) const {
  return entries_.contains(uid);
}

// False: the pod is gated and waits for its gate now.
bool SchedulingQueue::check_gate(QueueEntry& entry, std::string_view event) {
  entry.gated_by = gate_ ? gate_(*entry.pod) : std::nullopt;
  if (!entry.gated_by) return true;
  if (std::ranges::find(entry.rejected_by, *entry.gated_by) == entry.rejected_by.end())
    entry.rejected_by.push_back(*entry.gated_by);
  entry.interest |= event_mask(*entry.gated_by);
  places_.enter(entry, QueuePlace::unschedulable, event);
  return false;
}

void SchedulingQueue::add(PodPointer pod, SteadyTime now) {
  if (QueueEntry* known = find(pod->meta.uid); known != nullptr) return update(std::move(pod), now);
  auto made = std::make_unique<QueueEntry>();
  QueueEntry& entry = *made;
  entry.since = now;
  entry.order = next_order_++;
  entry.pod = std::move(pod);
  entries_.emplace(entry.pod->meta.uid, std::move(made));
  constexpr std::string_view kEvent = "UnschedulablePodAdd";
  if (!check_gate(entry, kEvent)) return;
  entry.first_ready = now;
  places_.enter(entry, QueuePlace::active, kEvent);
}

void SchedulingQueue::update(PodPointer pod, SteadyTime now) {
  QueueEntry* entry = find(pod->meta.uid);
  if (entry == nullptr) return add(std::move(pod), now);
  const PodPointer before = entry->pod;
  if (entry->place == QueuePlace::binding) {
    entry->pod = std::move(pod);
    return;
  }
  if (entry->place == QueuePlace::in_flight) {
    entry->pod = pod;
    for (const EventKind kind : changes_of_waiting(*before, *pod))
      places_.events().add({.kind = kind, .pod_before = before, .pod = pod});
    return;
  }
  places_.leave(*entry);
  entry->pod = std::move(pod);
  // Only its order and lane may have changed.
  if (entry->place != QueuePlace::unschedulable) return places_.put(*entry);
  const bool was_gated = entry->gated_by.has_value();
  for (const EventKind kind : changes_of_waiting(*before, *entry->pod)) {
    const ClusterEvent event{.kind = kind, .pod_before = before, .pod = entry->pod};
    if (!hints_.helps(*entry, event)) continue;
    if (!check_gate(*entry, label_of(kind))) return;
    if (was_gated) {
      entry->rejected_by.clear();
      entry->interest = 0;
    }
    entry->woken = true;
    return wait_or_activate(*entry, label_of(kind), now);
  }
  places_.put(*entry);
}

void SchedulingQueue::remove(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  if (found->second->place == QueuePlace::in_flight ||
      found->second->place == QueuePlace::binding) {
    found->second->removed = true;
    return;
  }
  places_.leave(*found->second);
  entries_.erase(found);
}

std::optional<SchedulingQueue::Attempt> SchedulingQueue::pop(SteadyTime now, PopFrom lanes) {
  flush(now);
  QueueEntry* entry = places_.take_next(lanes);
  if (entry == nullptr) return std::nullopt;
  places_.enter(*entry, QueuePlace::in_flight, {});
  ++entry->attempts;
  return Attempt{.pod = entry->pod,
                 .attempts = entry->attempts,
                 .first_ready = entry->first_ready.value_or(now),
                 .timed_out = std::exchange(entry->timed_out, false)};
}

void SchedulingQueue::assumed(std::string_view uid) {
  QueueEntry* entry = find(uid);
  if (entry == nullptr || entry->place != QueuePlace::in_flight) return;
  places_.leave(*entry);
  places_.enter(*entry, QueuePlace::binding, {});
}

void SchedulingQueue::done(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  places_.leave(*found->second);
  entries_.erase(found);
}

void SchedulingQueue::wait_or_activate(QueueEntry& entry, std::string_view event, SteadyTime now) {
  if (!entry.first_ready) entry.first_ready = now;
  const Nanos backoff = backoff_of(entry, options_);
  entry.expiry = backoff == Nanos(0) ? entry.since : whole_second(entry.since + backoff);
  if (entry.expiry <= now) return places_.enter(entry, QueuePlace::active, event);
  // A pod that no event has helped would fail again, so it is not tried early.
  const bool early = entry.consecutive_errors == 0 && entry.woken;
  places_.enter(entry, early ? QueuePlace::backoff : QueuePlace::error_backoff, event);
}

void SchedulingQueue::reject(std::string_view uid, const std::vector<PluginId>& plugins,
                             bool by_extender, SteadyTime now) {
  QueueEntry* entry = find(uid);
  if (entry == nullptr) return;
  if (entry->removed) return done(uid);
  entry->rejected_by = plugins;
  entry->by_extender = by_extender;
  entry->interest = 0;
  for (const PluginId plugin : plugins) entry->interest |= event_mask(plugin);
  ++entry->unschedulable_count;
  entry->consecutive_errors = 0;
  try_again(*entry, now);
}

void SchedulingQueue::fail(std::string_view uid, SteadyTime now) {
  QueueEntry* entry = find(uid);
  if (entry == nullptr) return;
  if (entry->removed) return done(uid);
  entry->rejected_by.clear();
  entry->by_extender = false;
  entry->interest = 0;
  ++entry->consecutive_errors;
  try_again(*entry, now);
}

void SchedulingQueue::try_again(QueueEntry& entry, SteadyTime now) {
  constexpr std::string_view kEvent = "ScheduleAttemptFailure";
  entry.since = now;
  bool helped = entry.rejected_by.empty() && !entry.by_extender;
  if (!helped)
    helped = places_.events().any_since(
        entry.seen_events, [&](const ClusterEvent& event) { return hints_.helps(entry, event); });
  places_.leave(entry);
  entry.woken = helped && (!entry.rejected_by.empty() || entry.by_extender);
  if (!helped) return places_.enter(entry, QueuePlace::unschedulable, kEvent);
  if (check_gate(entry, kEvent)) wait_or_activate(entry, kEvent, now);
}

void SchedulingQueue::happened(const ClusterEvent& event, SteadyTime now) {
  if (places_.events().needed()) places_.events().add(event);
  std::vector<QueueEntry*> woken;
  for (QueueEntry* entry : places_.unschedulable())
    if (hints_.helps(*entry, event)) woken.push_back(entry);
  for (QueueEntry* entry : woken) {
    places_.leave(*entry);
    entry->woken = true;
    if (check_gate(*entry, label_of(event.kind)))
      wait_or_activate(*entry, label_of(event.kind), now);
  }
}

void SchedulingQueue::flush(SteadyTime now) {
  while (QueueEntry* entry = places_.expired(now)) {
    places_.leave(*entry);
    places_.enter(*entry, QueuePlace::active, "BackoffComplete");
  }
  if (now < next_timeout_check_) return;
  next_timeout_check_ = now + kTimeoutCheck;
  std::vector<QueueEntry*> woken;
  for (QueueEntry* entry : places_.unschedulable())
    if (!entry->gated_by && now - entry->since > options_.max_unschedulable) woken.push_back(entry);
  for (QueueEntry* entry : woken) {
    places_.leave(*entry);
    if (!check_gate(*entry, "UnschedulableTimeout")) continue;
    entry->timed_out = true;
    wait_or_activate(*entry, "UnschedulableTimeout", now);
  }
}

std::optional<SteadyTime> SchedulingQueue::next_flush() const {
  const std::optional<SteadyTime> expiry = places_.next_expiry();
  if (places_.unschedulable().empty()) return expiry;
  return expiry ? std::min(*expiry, next_timeout_check_) : next_timeout_check_;
}

std::vector<WaitingPod> SchedulingQueue::waiting() const {
  std::vector<WaitingPod> out;
  for (const auto& [uid, entry] : entries_) {
    if (entry->place == QueuePlace::binding) continue;
    out.push_back({.pod = entry->pod,
                   .place = place_name(*entry),
                   .rejected_by = entry->rejected_by,
                   .by_extender = entry->by_extender});
  }
  return out;
}

void SchedulingQueue::activate_all(std::string_view event, SteadyTime now) {
  for (auto& [uid, entry] : entries_)
    if (entry->place == QueuePlace::active || entry->place == QueuePlace::backoff) {
      places_.leave(*entry);
      places_.put(*entry);
    }
  const std::vector<QueueEntry*> all(places_.unschedulable().begin(),
                                     places_.unschedulable().end());
  for (QueueEntry* entry : all) {
    places_.leave(*entry);
    if (check_gate(*entry, event)) wait_or_activate(*entry, event, now);
  }
}

void SchedulingQueue::activate(std::string_view uid, std::string_view event) {
  QueueEntry* entry = find(uid);
  if (entry == nullptr || entry->place == QueuePlace::active ||
      entry->place == QueuePlace::in_flight || entry->place == QueuePlace::binding)
    return;
  places_.leave(*entry);
  if (check_gate(*entry, event)) places_.enter(*entry, QueuePlace::active, event);
}

void SchedulingQueue::gate_opened(std::string_view uid, SteadyTime now) {
  QueueEntry* entry = find(uid);
  if (entry == nullptr || entry->place != QueuePlace::unschedulable || !entry->gated_by) return;
  const std::string_view event = label_of(EventKind::AssignedPodDelete);
  places_.leave(*entry);
  if (check_gate(*entry, event)) wait_or_activate(*entry, event, now);
}

}  // namespace plim::sched
