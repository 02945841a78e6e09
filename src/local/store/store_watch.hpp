// The recent changes of the store, and the watchers that follow them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "local/store/entry.hpp"

namespace plim::local::store {

// How many changes of a resource are kept: all younger than `min_age` and at least the last
// `min_events`, but never more than `max_events` or `max_bytes`.
struct HistoryLimits {
  Nanos min_age = std::chrono::minutes(5);
  std::size_t min_events = 10'000;
  std::size_t max_events = 100'000;
  std::uint64_t max_bytes = std::uint64_t{64} << 20;
};

// How far a watcher may lag behind, and for how long, before it is dropped.
struct WatchLimits {
  std::size_t events = 1'000;
  std::uint64_t bytes = std::uint64_t{4} << 20;
  Nanos patience = std::chrono::seconds(5);
};

// Keys are /registry/<group>/<resource>/…; returns the part up to the slash after the resource, or
// an empty string if the key has another form.
std::string_view resource_of(std::string_view key);

class Watcher;

// Whether a watcher wants a change. Called once or twice for each change below its prefix, so it
// must be cheap and always return the same.
using ChangeFilter = std::function<bool(const Change&)>;

// Keeps changes by resource and wakes watchers. Belongs to one loop. Watchers have no queues: each
// has a position in the history of its resource. So a slow watcher costs nothing, but is dropped
// when it is too far behind.
class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  // Changes up to `revision` are not available.
  WatchHub(Executor loop, Clock& clock, Revision revision, HistoryLimits history,
           WatchLimits limits);

  // Publishes the changes of one transaction, in the order of transactions.
  void publish(const std::vector<ChangePtr>& changes);
  // Watches changes after `after` of keys below `prefix`: a resource, a folder in it (both with a
  // trailing slash) or one key. Without a filter, all of them. Code::expired: some are no longer
  // kept.
  Result<std::unique_ptr<Watcher>> watch(std::string prefix, Revision after, ChangeFilter filter);
  // Ends every watcher with Code::unavailable.
  void close();

  Revision revision() const { return revision_; }

  std::size_t watchers() const;
  std::uint64_t bytes() const;  // of all kept changes

 private:
  friend class Watcher;

  struct Remembered {
    ChangePtr change;
    SteadyTime at;
  };

  // Index i of `changes` is change number first + i of the resource.
  struct History {
    std::deque<Remembered> changes;
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
    Revision forgotten = 0;  // changes up to here may be missing

    std::uint64_t end() const { return first + changes.size(); }
  };

  void trim(History& history) const;
  void wake(const std::string& key, const ChangePtr& change, const History& history);

  Executor loop_;
  Clock& clock_;
  const HistoryLimits history_limits_;
  const WatchLimits limits_;
  const Revision start_;
  Revision revision_;
  // References to elements stay valid, so watchers keep them; a resource is never removed.
  std::unordered_map<std::string, History> histories_;
  std::unordered_map<std::string, std::vector<Watcher*>> watchers_;  // by prefix
};

// One reader of changes. Belongs to the hub's loop.
class Watcher {
 public:
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Waits for changes and takes up to `limit` of them, more only to keep a transaction together.
  // Code::gone: it was too slow and missed some; watch again from revision(), or list.
  Task<Result<std::vector<ChangePtr>>> next(std::size_t limit = 100);
  // True if next() would not wait; false at the deadline.
  Task<bool> wait_until(SteadyTime deadline);
  // Everything up to this revision has been taken, as a bookmark promises.
  Revision revision() const;

  std::size_t pending() const { return pending_; }

  bool lost() const { return end_.has_value(); }

 private:
  friend class WatchHub;
  struct Alarm;
  Watcher(std::shared_ptr<WatchHub> hub, std::string prefix, ChangeFilter filter,
          const WatchHub::History& history);

  bool is_below_prefix(const Change& change) const;

  bool wants(const Change& change) const { return !filter_ || filter_(change); }

  void offer(const Change& change, std::uint64_t number);
  bool is_behind() const;
  bool is_too_slow();
  void finish(Error why);
  void set_alarm(SteadyTime at);
  void stop_alarm();
  std::vector<ChangePtr> take(std::size_t limit);

  std::shared_ptr<WatchHub> hub_;
  const std::string prefix_;
  const ChangeFilter filter_;
  const WatchHub::History& history_;
  std::uint64_t place_ = 0;  // number of the next change to check, if one is pending
  std::size_t pending_ = 0;
  std::uint64_t pending_bytes_ = 0;
  Revision taken_ = 0;
  std::optional<SteadyTime> behind_since_;
  std::optional<Error> end_;
  Event changed_;
  std::shared_ptr<Alarm> alarm_;  // stays set between waits for the same time
};

}  // namespace plim::local::store
