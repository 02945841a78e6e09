#include "flow/dispatcher.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace plim::flow {

void Dispatcher::add(Slice slice) {
  SliceKey key = slice.key;
  auto [at, added] = open_.emplace(key, OpenSlice{.slice = std::move(slice), .holder = {}});
  PLIM_ASSERT(added);
  queue_.push_back(key);
}

void Dispatcher::join(WorkerNumber worker, SteadyTime now) {
  workers_[worker] = Worker{.heard = now, .held = {}};
}

bool Dispatcher::is_current(WorkerNumber worker, const Held& held) const {
  auto at = open_.find(held.key);
  return at != open_.end() && at->second.holder == worker &&
         at->second.slice.attempt == held.attempt;
}

// Puts slices at the front of the queue, the oldest first.
void Dispatcher::requeue(const std::deque<Held>& held) {
  for (auto at = held.rbegin(); at != held.rend(); ++at) {
    open_.at(at->key).holder.reset();
    queue_.push_front(at->key);
  }
}

std::vector<Slice> Dispatcher::leave(WorkerNumber worker) {
  std::vector<Slice> given_up;
  auto at = workers_.find(worker);
  if (at == workers_.end()) return given_up;
  std::deque<Held> lost;
  bool first = true;
  for (const Held& held : at->second.held) {
    // Only the first slice can have been running; the others were waiting.
    const bool was_running = std::exchange(first, false);
    if (!is_current(worker, held)) continue;
    OpenSlice& slice = open_.at(held.key);
    if (was_running && ++slice.deaths >= options_.most_deaths) {
      given_up.push_back(std::move(slice.slice));
      open_.erase(held.key);
    } else {
      lost.push_back(held);
    }
  }
  workers_.erase(at);
  requeue(lost);
  return given_up;
}

void Dispatcher::heard_from(WorkerNumber worker, SteadyTime now) {
  auto at = workers_.find(worker);
  if (at == workers_.end()) return;
  at->second.heard = now;
  at->second.silent = false;
}

void Dispatcher::excuse(Nanos time) {
  for (auto& [number, worker] : workers_) worker.heard += time;
}

std::vector<Dispatcher::Order> Dispatcher::expire(SteadyTime now) {
  std::vector<Order> orders;
  for (auto& [number, worker] : workers_) {
    if (worker.silent || now - worker.heard < options_.lease) continue;
    worker.silent = true;
    std::deque<Held> lost;
    for (const Held& held : worker.held) {
      if (!is_current(number, held)) continue;
      lost.push_back(held);
      orders.push_back({.worker = number, .cancel = {.key = held.key, .attempt = held.attempt}});
    }
    requeue(lost);
  }
  return orders;
}

Dispatcher::Verdict Dispatcher::report(WorkerNumber worker, const SliceReport& report,
                                       std::vector<Order>& orders) {
  const Held told{.key = report.key, .attempt = report.attempt};
  const bool current = is_current(worker, told);
  if (auto at = workers_.find(worker); at != workers_.end())
    std::erase_if(at->second.held, [&](const Held& held) {
      return held.key == told.key && held.attempt == told.attempt;
    });
  auto at = open_.find(report.key);
  if (at == open_.end()) {
    if (report.outcome != Outcome::completed) return Verdict::dropped;
    ++duplicates_;
    return Verdict::duplicate;
  }
  OpenSlice& slice = at->second;
  // This attempt was never dispatched, so the report is not valid.
  if (report.attempt == 0 || report.attempt > slice.slice.attempt) return Verdict::dropped;
  if (report.outcome == Outcome::cancelled) {
    if (current) requeue({told});
    return Verdict::dropped;
  }
  // Another worker runs the slice now and may succeed.
  if (report.outcome == Outcome::failed && !current) return Verdict::dropped;
  if (!slice.holder)
    std::erase(queue_, report.key);
  else if (!current)
    orders.push_back(
        {.worker = *slice.holder, .cancel = {.key = report.key, .attempt = slice.slice.attempt}});
  open_.erase(at);
  return Verdict::accepted;
}

std::optional<Dispatcher::Assignment> Dispatcher::assign(std::size_t depth) {
  if (queue_.empty()) return std::nullopt;
  std::pair<const WorkerNumber, Worker>* freest = nullptr;
  for (auto& one : workers_) {
    if (one.second.silent || one.second.held.size() >= depth) continue;
    if (freest == nullptr || one.second.held.size() < freest->second.held.size()) freest = &one;
  }
  if (freest == nullptr) return std::nullopt;
  OpenSlice& slice = open_.at(queue_.front());
  queue_.pop_front();
  slice.holder = freest->first;
  if (++slice.slice.attempt > 1) ++redispatched_;
  freest->second.held.push_back({.key = slice.slice.key, .attempt = slice.slice.attempt});
  return Assignment{.worker = freest->first, .slice = slice.slice};
}

void Dispatcher::count_from(std::uint64_t redispatched, std::uint64_t duplicates) {
  redispatched_ = redispatched;
  duplicates_ = duplicates;
}

std::optional<SteadyTime> Dispatcher::next_expiry() const {
  std::optional<SteadyTime> out;
  for (const auto& [number, worker] : workers_)
    if (!worker.silent && !worker.held.empty())
      out = std::min(out.value_or(SteadyTime::max()), worker.heard + options_.lease);
  return out;
}

}  // namespace plim::flow
