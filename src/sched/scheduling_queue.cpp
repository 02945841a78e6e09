#include "sched/scheduling_queue.hpp"

#include <algorithm>
#include <tuple>

namespace plim::sched {
namespace {

constexpr std::chrono::seconds kTimeoutCheck{30};

// Back-offs end at whole seconds, where the more important of those that end together come first.
// Never before their time: one of a second would be none at all.
SteadyTime whole_second(SteadyTime time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

}  // namespace

bool SchedulingQueue::ByPriority::operator()(const Entry* a, const Entry* b) const {
  if (a->pod->spec.priority != b->pod->spec.priority)
    return a->pod->spec.priority > b->pod->spec.priority;
  return std::tie(a->since, a->order) < std::tie(b->since, b->order);
}

bool SchedulingQueue::ByExpiry::operator()(const Entry* a, const Entry* b) const {
  if (a->expiry != b->expiry) return a->expiry < b->expiry;
  return ByPriority()(a, b);
}

SchedulingQueue::SchedulingQueue(QueueOptions options, Gate gate, Observe observe, Hint hint,
                                 LaneOf lane_of)
    : options_(options),
      gate_(std::move(gate)),
      observe_(std::move(observe)),
      hint_(std::move(hint)),
      lane_of_(std::move(lane_of)) {}

SchedulingQueue::Entry* SchedulingQueue::find(std::string_view uid) {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.get();
}

bool SchedulingQueue::contains(std::string_view uid) const {
  return entries_.contains(uid);
}

void SchedulingQueue::leave(Entry& entry) {
  const auto lane = static_cast<std::size_t>(entry.lane);
  switch (entry.place) {
    case Place::active:
      active_[lane].erase(&entry);
      break;
    case Place::backoff:
      backoff_[lane].erase(&entry);
      break;
    case Place::error_backoff:
      error_backoff_.erase(&entry);
      break;
    case Place::unschedulable:
      unschedulable_.erase(&entry);
      break;
    case Place::in_flight: {
      in_flight_.erase(in_flight_.find(entry.seen_events));
      const std::uint64_t end = first_recent_ + recent_.size();
      const std::uint64_t oldest = in_flight_.empty() ? end : *in_flight_.begin();
      for (; first_recent_ < oldest; ++first_recent_) recent_.pop_front();
      break;
    }
    case Place::binding:
      break;
  }
}

// Into the container of its place.
void SchedulingQueue::put(Entry& entry) {
  entry.lane = lane_of_ ? lane_of_(*entry.pod) : Lane::quick;
  const auto lane = static_cast<std::size_t>(entry.lane);
  switch (entry.place) {
    case Place::active:
      active_[lane].insert(&entry);
      break;
    case Place::backoff:
      backoff_[lane].insert(&entry);
      break;
    case Place::error_backoff:
      error_backoff_.insert(&entry);
      break;
    case Place::unschedulable:
      unschedulable_.insert(&entry);
      break;
    case Place::in_flight:
      entry.seen_events = first_recent_ + recent_.size();
      in_flight_.insert(entry.seen_events);
      break;
    case Place::binding:
      break;
  }
}

void SchedulingQueue::enter(Entry& entry, Place place, std::string_view event) {
  entry.place = place;
  put(entry);
  if (!observe_ || place == Place::in_flight || place == Place::binding) return;
  if (place == Place::active)
    observe_("active", event);
  else
    observe_(place == Place::unschedulable ? "unschedulable" : "backoff", event);
}

// False: it is gated, and waits for its gate now.
bool SchedulingQueue::check_gate(Entry& entry, std::string_view event) {
  entry.gated_by = gate_ ? gate_(*entry.pod) : std::nullopt;
  if (!entry.gated_by) return true;
  if (std::ranges::find(entry.rejected_by, *entry.gated_by) == entry.rejected_by.end())
    entry.rejected_by.push_back(*entry.gated_by);
  entry.interest |= event_mask(*entry.gated_by);
  enter(entry, Place::unschedulable, event);
  return false;
}

void SchedulingQueue::add(PodPointer pod, SteadyTime now) {
  if (Entry* known = find(pod->meta.uid); known != nullptr) return update(std::move(pod), now);
  auto made = std::make_unique<Entry>();
  Entry& entry = *made;
  entry.since = now;
  entry.order = next_order_++;
  entry.pod = std::move(pod);
  entries_.emplace(entry.pod->meta.uid, std::move(made));
  constexpr std::string_view kEvent = "UnschedulablePodAdd";
  if (!check_gate(entry, kEvent)) return;
  entry.first_ready = now;
  enter(entry, Place::active, kEvent);
}

void SchedulingQueue::update(PodPointer pod, SteadyTime now) {
  Entry* entry = find(pod->meta.uid);
  if (entry == nullptr) return add(std::move(pod), now);
  const PodPointer before = entry->pod;
  if (entry->place == Place::binding) {
    entry->pod = std::move(pod);
    return;
  }
  if (entry->place == Place::in_flight) {
    entry->pod = pod;
    for (const EventKind kind : changes_of_waiting(*before, *pod))
      recent_.push_back({.kind = kind, .pod_before = before, .pod = pod});
    return;
  }
  leave(*entry);
  entry->pod = std::move(pod);
  // Its order and lane may have changed, nothing else.
  if (entry->place != Place::unschedulable) return put(*entry);
  const bool was_gated = entry->gated_by.has_value();
  for (const EventKind kind : changes_of_waiting(*before, *entry->pod)) {
    const ClusterEvent event{.kind = kind, .pod_before = before, .pod = entry->pod};
    if (!helps(*entry, event)) continue;
    if (!check_gate(*entry, label_of(kind))) return;
    if (was_gated) {
      entry->rejected_by.clear();
      entry->interest = 0;
    }
    entry->woken = true;
    return wait_or_activate(*entry, label_of(kind), now);
  }
  put(*entry);
}

void SchedulingQueue::remove(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  if (found->second->place == Place::in_flight || found->second->place == Place::binding) {
    found->second->removed = true;
    return;
  }
  leave(*found->second);
  entries_.erase(found);
}

template <class Order>
SchedulingQueue::Entry* SchedulingQueue::first_of(const Lanes<Order>& lanes, bool asking_too) {
  const auto& [quick, asking] = lanes;
  Entry* out = quick.empty() ? nullptr : *quick.begin();
  if (!asking_too || asking.empty()) return out;
  return out == nullptr || Order()(*asking.begin(), out) ? *asking.begin() : out;
}

std::optional<SchedulingQueue::Attempt> SchedulingQueue::pop(SteadyTime now) {
  return pop_from(true, now);
}

std::optional<SchedulingQueue::Attempt> SchedulingQueue::pop_quick(SteadyTime now) {
  return pop_from(false, now);
}

std::optional<SchedulingQueue::Attempt> SchedulingQueue::pop_from(bool asking_too, SteadyTime now) {
  flush(now);
  Entry* entry = first_of(active_, asking_too);
  if (entry == nullptr) {
    entry = first_of(backoff_, asking_too);  // nobody is kept waiting by it
    if (entry == nullptr) return std::nullopt;
    if (observe_) observe_("active", "PopFromBackoffQ");
  }
  leave(*entry);
  enter(*entry, Place::in_flight, {});
  ++entry->attempts;
  return Attempt{.pod = entry->pod,
                 .attempts = entry->attempts,
                 .first_ready = entry->first_ready.value_or(now)};
}

void SchedulingQueue::assumed(std::string_view uid) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->place != Place::in_flight) return;
  leave(*entry);
  enter(*entry, Place::binding, {});
}

void SchedulingQueue::done(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  leave(*found->second);
  entries_.erase(found);
}

Nanos SchedulingQueue::backoff_of(const Entry& entry) const {
  const int count =
      entry.consecutive_errors > 0 ? entry.consecutive_errors : entry.unschedulable_count;
  if (count <= 0) return Nanos(0);
  Nanos out = options_.initial_backoff;
  for (int step = 1; step < count && out < options_.max_backoff; ++step) out *= 2;
  return std::min(out, options_.max_backoff);
}

void SchedulingQueue::wait_or_activate(Entry& entry, std::string_view event, SteadyTime now) {
  if (!entry.first_ready) entry.first_ready = now;
  const Nanos backoff = backoff_of(entry);
  entry.expiry = backoff == Nanos(0) ? entry.since : whole_second(entry.since + backoff);
  if (entry.expiry <= now) return enter(entry, Place::active, event);
  // One that nothing has helped would fail again at once, so it is not tried early.
  const bool early = entry.consecutive_errors == 0 && entry.woken;
  enter(entry, early ? Place::backoff : Place::error_backoff, event);
}

bool SchedulingQueue::ask_hint(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod) {
  const auto ask = [&] { return hint_ ? hint_(plugin, event, pod) : may_help(plugin, event, pod); };
  if (hint_clock_ == nullptr || hints_++ % 10 != 0) return ask();
  const SteadyTime began = hint_clock_->steady();
  const bool out = ask();
  on_hint_(plugin, event.kind, out, hint_clock_->steady() - began);
  return out;
}

bool SchedulingQueue::helps(const Entry& entry, const ClusterEvent& event) {
  if (entry.gated_by && (event_mask(*entry.gated_by) & event_bit(event.kind)) == 0) return false;
  if (event.up_to_priority && entry.pod->spec.priority > *event.up_to_priority) return false;
  if (entry.by_extender) return true;
  if ((entry.interest & event_bit(event.kind)) == 0) return false;
  return std::ranges::any_of(entry.rejected_by,
                             [&](PluginId plugin) { return ask_hint(plugin, event, *entry.pod); });
}

void SchedulingQueue::reject(std::string_view uid, const std::vector<PluginId>& plugins,
                             bool by_extender, SteadyTime now) {
  Entry* entry = find(uid);
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
  Entry* entry = find(uid);
  if (entry == nullptr) return;
  if (entry->removed) return done(uid);
  entry->rejected_by.clear();
  entry->by_extender = false;
  entry->interest = 0;
  ++entry->consecutive_errors;
  try_again(*entry, now);
}

void SchedulingQueue::try_again(Entry& entry, SteadyTime now) {
  constexpr std::string_view kEvent = "ScheduleAttemptFailure";
  entry.since = now;
  bool helped = entry.rejected_by.empty() && !entry.by_extender;
  for (std::uint64_t number = std::max(entry.seen_events, first_recent_);
       !helped && number < first_recent_ + recent_.size(); ++number) {
    const ClusterEvent& event = recent_[static_cast<std::size_t>(number - first_recent_)];
    helped = helps(entry, event);
  }
  leave(entry);
  entry.woken = helped && (!entry.rejected_by.empty() || entry.by_extender);
  if (!helped) return enter(entry, Place::unschedulable, kEvent);
  if (check_gate(entry, kEvent)) wait_or_activate(entry, kEvent, now);
}

void SchedulingQueue::happened(const ClusterEvent& event, SteadyTime now) {
  if (!in_flight_.empty()) recent_.push_back(event);
  std::vector<Entry*> woken;
  for (Entry* entry : unschedulable_)
    if (helps(*entry, event)) woken.push_back(entry);
  for (Entry* entry : woken) {
    leave(*entry);
    entry->woken = true;
    if (check_gate(*entry, label_of(event.kind)))
      wait_or_activate(*entry, label_of(event.kind), now);
  }
}

void SchedulingQueue::flush(SteadyTime now) {
  for (auto* waiting : {&backoff_[0], &backoff_[1], &error_backoff_}) {
    while (!waiting->empty() && (*waiting->begin())->expiry <= now) {
      Entry& entry = **waiting->begin();
      leave(entry);
      enter(entry, Place::active, "BackoffComplete");
    }
  }
  if (now < next_timeout_check_) return;
  next_timeout_check_ = now + kTimeoutCheck;
  std::vector<Entry*> woken;
  for (Entry* entry : unschedulable_)
    if (!entry->gated_by && now - entry->since > options_.max_unschedulable) woken.push_back(entry);
  for (Entry* entry : woken) {
    leave(*entry);
    if (check_gate(*entry, "UnschedulableTimeout"))
      wait_or_activate(*entry, "UnschedulableTimeout", now);
  }
}

std::optional<SteadyTime> SchedulingQueue::next_flush() const {
  std::optional<SteadyTime> out;
  if (!unschedulable_.empty()) out = next_timeout_check_;
  for (const auto* waiting : {&backoff_[0], &backoff_[1], &error_backoff_})
    if (!waiting->empty() && (!out || (*waiting->begin())->expiry < *out))
      out = (*waiting->begin())->expiry;
  return out;
}

QueueCounts SchedulingQueue::counts() const {
  QueueCounts out{.active = active_[0].size() + active_[1].size(),
                  .backoff = backoff_[0].size() + backoff_[1].size() + error_backoff_.size()};
  for (const Entry* entry : unschedulable_) ++(entry->gated_by ? out.gated : out.unschedulable);
  return out;
}

std::vector<WaitingPod> SchedulingQueue::waiting() const {
  std::vector<WaitingPod> out;
  for (const auto& [uid, entry] : entries_) {
    if (entry->place == Place::binding) continue;
    std::string_view place = "backoff";
    if (entry->place == Place::active)
      place = "active";
    else if (entry->place == Place::in_flight)
      place = "inFlight";
    else if (entry->place == Place::unschedulable)
      place = entry->gated_by ? "gated" : "unschedulable";
    out.push_back({.pod = entry->pod,
                   .place = place,
                   .rejected_by = entry->rejected_by,
                   .by_extender = entry->by_extender});
  }
  return out;
}

std::array<std::size_t, kEventKinds> SchedulingQueue::kept_events() const {
  std::array<std::size_t, kEventKinds> out{};
  for (const ClusterEvent& event : recent_) ++out[static_cast<std::size_t>(event.kind)];
  return out;
}

void SchedulingQueue::activate_all(std::string_view event, SteadyTime now) {
  for (auto& [uid, entry] : entries_)
    if (entry->place == Place::active || entry->place == Place::backoff) {
      leave(*entry);
      put(*entry);
    }
  const std::vector<Entry*> all(unschedulable_.begin(), unschedulable_.end());
  for (Entry* entry : all) {
    leave(*entry);
    if (check_gate(*entry, event)) wait_or_activate(*entry, event, now);
  }
}

void SchedulingQueue::activate(std::string_view uid, std::string_view event) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->place == Place::active || entry->place == Place::in_flight ||
      entry->place == Place::binding)
    return;
  leave(*entry);
  if (check_gate(*entry, event)) enter(*entry, Place::active, event);
}

void SchedulingQueue::gate_opened(std::string_view uid, SteadyTime now) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->place != Place::unschedulable || !entry->gated_by) return;
  const std::string_view event = label_of(EventKind::AssignedPodDelete);
  leave(*entry);
  if (check_gate(*entry, event)) wait_or_activate(*entry, event, now);
}

}  // namespace plim::sched
