// A work queue like client-go's: it also keeps the retries.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"

namespace plim::kube {

// A key is in the queue at most once and never with two workers. A key that is added while a worker
// has it comes again after done(). Belongs to one loop and outlives the workers that wait on it.
// Other work of the loop runs between any two keys.
template <class Key>
class WorkQueue {
 public:
  struct Options {
    Nanos first =
        std::chrono::milliseconds(5);  // delay of the first retry of a key; doubles each time
    Nanos limit = std::chrono::seconds(1000);
  };

  explicit WorkQueue(const Executor& loop, Options options = Options(),
                     Clock& clock = system_clock())
      : options_(options), clock_(clock), changed_(loop) {}

  void add(const Key& key) {
    if (!wanted_.insert(key).second) return;
    if (working_.contains(key)) return;
    ready_.push_back(key);
    changed_.notify();
  }

  // Adds the key later; the earliest of several times counts. If a worker asks again and again for
  // the key it works on with no delay, the delay grows: what it waits for may never come.
  void add_after(const Key& key, Nanos delay) {
    if (delay < options_.first && working_.contains(key)) delay = std::max(delay, pause(key));
    if (delay <= Nanos::zero()) return add(key);
    SteadyTime when = clock_.steady() + delay;
    auto [place, added] = due_.emplace(key, when);
    if (!added && place->second <= when) return;
    if (!added) by_time_.erase({place->second, key});
    place->second = when;
    by_time_.emplace(when, key);
    changed_.notify();
  }

  // After a failure: adds the key later, each time twice as late, until forget().
  void retry(const Key& key) { add_after(key, doubled(failures_[key]++, options_.limit)); }

  void forget(const Key& key) { failures_.erase(key); }

  int failures(const Key& key) const {
    auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

  // Waits for a key. The caller must call done(key).
  Task<Key> next() {
    co_await yield_to_loop();
    for (;;) {
      add_due();
      if (!ready_.empty()) break;
      if (by_time_.empty()) {
        co_await changed_.wait();
      } else {
        co_await changed_.wait_until(clock_, by_time_.begin()->first);
      }
    }
    Key out = std::move(ready_.front());
    ready_.pop_front();
    wanted_.erase(out);
    working_.insert(out);
    co_return out;
  }

  void done(const Key& key) {
    if (auto found = hurries_.find(key); found != hurries_.end()) {
      if (!std::exchange(found->second.now, false)) hurries_.erase(found);
    }
    if (!working_.erase(key) || !wanted_.contains(key)) return;
    ready_.push_back(key);
    changed_.notify();
  }

  std::size_t size() const { return ready_.size(); }

  std::size_t working() const { return working_.size(); }

 private:
  static constexpr int kFreeTurns = 5;
  static constexpr Nanos kLongestPause = std::chrono::seconds(1);

  // State of a key that its worker wants again with no delay.
  struct Hurry {
    int turns = 0;     // in a row that ended like that
    bool now = false;  // the present turn will, too
  };

  Nanos doubled(int times, Nanos limit) const {
    times = std::min(times, 62);
    if (options_.first > limit / (std::int64_t{1} << times)) return limit;
    return options_.first * (std::int64_t{1} << times);
  }

  Nanos pause(const Key& key) {
    Hurry& hurry = hurries_[key];
    if (!std::exchange(hurry.now, true)) ++hurry.turns;
    if (hurry.turns <= kFreeTurns) return Nanos::zero();
    return doubled(hurry.turns - kFreeTurns - 1, kLongestPause);
  }

  void add_due() {
    while (!by_time_.empty() && by_time_.begin()->first <= clock_.steady()) {
      Key key = by_time_.begin()->second;
      by_time_.erase(by_time_.begin());
      due_.erase(key);
      add(key);
    }
  }

  Options options_;
  Clock& clock_;
  Event changed_;
  std::deque<Key> ready_;
  std::set<Key> wanted_;   // in ready_, or added again while in working_
  std::set<Key> working_;  // handed out, done() not yet called
  std::map<Key, int> failures_;
  std::map<Key, Hurry> hurries_;
  std::map<Key, SteadyTime> due_;
  std::set<std::pair<SteadyTime, Key>> by_time_;  // the same, in order
};

}  // namespace plim::kube
