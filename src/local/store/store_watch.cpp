#include "local/store/store_watch.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

namespace plim::local::store {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kTrimAtOnce = 100;  // old changes, so that one write does not pay for all

std::uint64_t size_of(const Change& change) {
  return (change.now ? change.now : change.before)->footprint();
}

}  // namespace

std::string_view resource_of(std::string_view key) {
  if (!key.starts_with("/registry/")) return {};
  std::size_t slash = key.find('/', std::string_view("/registry/").size());
  if (slash != key.npos) slash = key.find('/', slash + 1);
  return slash == key.npos ? std::string_view() : key.substr(0, slash + 1);
}

WatchHub::WatchHub(Executor loop, Clock& clock, Revision revision, HistoryLimits history,
                   WatchLimits limits)
    : loop_(std::move(loop)),
      clock_(clock),
      history_limits_(history),
      limits_(limits),
      start_(revision),
      revision_(revision) {}

void WatchHub::publish(const std::vector<ChangePtr>& changes) {
  for (const ChangePtr& change : changes) {
    revision_ = change->revision;
    const std::string& key = change->key();
    auto [place, is_new] = histories_.try_emplace(std::string(resource_of(key)));
    History& history = place->second;
    if (is_new) history.forgotten = start_;
    history.changes.push_back({change, clock_.steady()});
    history.bytes += size_of(*change);
    trim(history);
    wake(key, change, history);
  }
}

void WatchHub::trim(History& history) const {
  auto forget_first = [&] {
    const Change& oldest = *history.changes.front().change;
    history.forgotten = oldest.revision;
    history.bytes -= size_of(oldest);
    history.changes.pop_front();
    ++history.first;
  };
  while (history.changes.size() > history_limits_.max_events ||
         history.bytes > history_limits_.max_bytes)
    forget_first();
  const SteadyTime old = clock_.steady() - history_limits_.min_age;
  for (std::size_t i = 0; i < kTrimAtOnce; ++i) {
    if (history.changes.size() <= history_limits_.min_events || history.changes.front().at >= old)
      return;
    forget_first();
  }
}

void WatchHub::wake(const std::string& key, const ChangePtr& change, const History& history) {
  if (watchers_.empty()) return;
  // Prefixes end at slashes, so look up the few prefixes of this key instead of asking all
  // watchers.
  for (std::size_t end = resource_of(key).size();;) {
    if (auto found = watchers_.find(key.substr(0, end)); found != watchers_.end()) {
      std::vector<Watcher*> slow;
      for (Watcher* watcher : found->second) {
        if (!watcher->wants(*change)) continue;
        watcher->offer(*change, history.end() - 1);
        if (watcher->is_too_slow()) slow.push_back(watcher);
      }
      for (Watcher* watcher : slow)
        watcher->finish(fail(Code::gone, fmt::format("too slow: {} changes of {} behind",
                                                     watcher->pending_, watcher->prefix_)));
    }
    if (end == key.size()) return;
    const std::size_t slash = key.find('/', end);
    end = slash == key.npos ? key.size() : slash + 1;
  }
}

Result<std::unique_ptr<Watcher>> WatchHub::watch(std::string prefix, Revision after,
                                                 ChangeFilter filter) {
  const std::string_view resource = resource_of(prefix);
  if (resource.empty())
    return fail(Code::invalid, fmt::format("cannot watch more than a resource: {}", prefix));
  auto [place, is_new] = histories_.try_emplace(std::string(resource));
  History& history = place->second;
  if (is_new) history.forgotten = start_;
  if (after < history.forgotten)
    return fail(Code::expired,
                fmt::format("too old resource version: {} ({})", after, history.forgotten));
  std::unique_ptr<Watcher> out(
      new Watcher(shared_from_this(), std::move(prefix), std::move(filter), history));
  out->taken_ = after;
  auto first = std::ranges::upper_bound(history.changes, after, {},
                                        [](const Remembered& r) { return r.change->revision; });
  for (auto it = first; it != history.changes.end(); ++it) {
    const auto number = history.first + static_cast<std::uint64_t>(it - history.changes.begin());
    if (out->is_below_prefix(*it->change) && out->wants(*it->change))
      out->offer(*it->change, number);
  }
  watchers_[out->prefix_].push_back(out.get());
  return out;
}

void WatchHub::close() {
  while (!watchers_.empty())
    watchers_.begin()->second.back()->finish(fail(Code::unavailable, "the store is closing"));
}

std::size_t WatchHub::watchers() const {
  std::size_t out = 0;
  for (const auto& [prefix, list] : watchers_) out += list.size();
  return out;
}

std::uint64_t WatchHub::bytes() const {
  std::uint64_t out = 0;
  for (const auto& [resource, history] : histories_) out += history.bytes;
  return out;
}

// Sleeps in the background instead of in each wait: watches wait for the same time again after
// every change, and starting and ending a sleep costs more than everything else.
struct Watcher::Alarm {
  Alarm(SteadyTime when, Event& event) : at(when), wakes(&event) {}

  SteadyTime at;
  Event* wakes;  // null: no wait is active
  bool rang = false;
  asio::cancellation_signal cancel;
};

Watcher::Watcher(std::shared_ptr<WatchHub> hub, std::string prefix, ChangeFilter filter,
                 const WatchHub::History& history)
    : hub_(std::move(hub)),
      prefix_(std::move(prefix)),
      filter_(std::move(filter)),
      history_(history),
      changed_(hub_->loop_) {}

Watcher::~Watcher() {
  stop_alarm();
  if (!lost()) finish(fail(Code::cancelled, "the watcher was closed"));
}

bool Watcher::is_below_prefix(const Change& change) const {
  return prefix_.ends_with('/') ? change.key().starts_with(prefix_) : change.key() == prefix_;
}

void Watcher::offer(const Change& change, std::uint64_t number) {
  // The watch starts at a later revision: skip changes before it.
  if (change.revision <= taken_) return;
  if (pending_ == 0) place_ = number;
  ++pending_;
  pending_bytes_ += size_of(change);
  changed_.notify();
}

bool Watcher::is_behind() const {
  return pending_ > hub_->limits_.events || pending_bytes_ > hub_->limits_.bytes;
}

bool Watcher::is_too_slow() {
  if (!is_behind()) return false;
  const SteadyTime now = hub_->clock_.steady();
  if (!behind_since_) behind_since_ = now;
  return now - *behind_since_ > hub_->limits_.patience || place_ < history_.first;
}

void Watcher::finish(Error why) {
  end_ = std::move(why);
  auto found = hub_->watchers_.find(prefix_);
  std::erase(found->second, this);
  if (found->second.empty()) hub_->watchers_.erase(found);
  changed_.notify();
}

Task<Result<std::vector<ChangePtr>>> Watcher::next(std::size_t limit) {
  while (!end_ && pending_ == 0) co_await changed_.wait();
  if (!end_ && place_ < history_.first)
    finish(fail(Code::gone, fmt::format("too slow: changes of {} are no longer kept", prefix_)));
  if (end_) co_return *end_;
  co_return take(limit);
}

Task<bool> Watcher::wait_until(SteadyTime deadline) {
  while (!end_ && pending_ == 0) {
    if (deadline <= hub_->clock_.steady()) co_return false;
    set_alarm(deadline);
    co_await changed_.wait();
  }
  co_return true;
}

void Watcher::set_alarm(SteadyTime at) {
  if (alarm_ && alarm_->at == at && !alarm_->rang) return;
  stop_alarm();
  alarm_ = std::make_shared<Alarm>(at, changed_);
  auto rings = [alarm = alarm_](const std::exception_ptr&) {
    alarm->rang = true;
    if (alarm->wakes) alarm->wakes->notify();
  };
  asio::co_spawn(hub_->loop_, hub_->clock_.sleep_until(at),
                 asio::bind_cancellation_slot(alarm_->cancel.slot(), std::move(rings)));
}

void Watcher::stop_alarm() {
  if (!alarm_) return;
  alarm_->wakes = nullptr;
  if (!alarm_->rang) alarm_->cancel.emit(asio::cancellation_type::terminal);
  alarm_.reset();
}

std::vector<ChangePtr> Watcher::take(std::size_t limit) {
  std::vector<ChangePtr> out;
  while (pending_ > 0) {
    const ChangePtr& change = history_.changes[place_ - history_.first].change;
    if (is_below_prefix(*change) && wants(*change)) {
      if (!out.empty() && out.size() >= limit && change->revision != out.back()->revision) break;
      out.push_back(change);
      taken_ = change->revision;
      --pending_;
      pending_bytes_ -= size_of(*change);
    }
    ++place_;
  }
  if (!is_behind()) behind_since_.reset();
  return out;
}

Revision Watcher::revision() const {
  return pending_ == 0 && !lost() ? std::max(taken_, hub_->revision_) : taken_;
}

}  // namespace plim::local::store
