// Who works on which slice: the queue, leases, and what counts when two workers report the same
// slice. Pure bookkeeping without clock, files or sockets; the controller feeds it what happens.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "flow/protocol.hpp"
#include "flow/slice.hpp"

namespace plim::flow {

using WorkerNumber = std::uint32_t;

class Dispatcher {
 public:
  struct Options {
    Nanos lease = std::chrono::seconds(30);
    // A slice during which so many workers died is held responsible.
    unsigned most_deaths = 4;
  };

  // A message for one worker.
  struct Order {
    WorkerNumber worker = 0;
    Cancel cancel;
  };

  struct Assignment {
    WorkerNumber worker = 0;
    Slice slice;
  };

  enum class Verdict {
    accepted,   // the slice is done with: write the report down
    duplicate,  // somebody had reported it before: drop the report
    dropped,    // neither a result nor a duplicate
  };

  explicit Dispatcher(Options options) : options_(options) {}

  void add(Slice slice);
  void join(WorkerNumber worker, SteadyTime now);
  // The worker is gone for certain. Its slices go to the front of the queue; those that ran when
  // too many workers died are returned instead, as failures.
  std::vector<Slice> leave(WorkerNumber worker);
  void heard_from(WorkerNumber worker, SteadyTime now);
  // So long nobody listened to the workers: that was no silence of theirs.
  void excuse(Nanos time);
  // Workers that were silent for a lease lose their slices.
  std::vector<Order> expire(SteadyTime now);

  Verdict report(WorkerNumber worker, const SliceReport& report, std::vector<Order>& orders);

  // The next pair of a worker that has fewer than `depth` slices and the oldest slice.
  std::optional<Assignment> assign(std::size_t depth);

  std::size_t queued() const { return queue_.size(); }

  std::size_t running() const { return open_.size() - queue_.size(); }  // given out, not reported

  std::size_t open() const { return open_.size(); }

  std::size_t workers() const { return workers_.size(); }

  bool is_here(WorkerNumber worker) const { return workers_.contains(worker); }

  std::uint64_t redispatched() const { return redispatched_; }

  std::uint64_t duplicates() const { return duplicates_; }

  // When a resumed execution has had some before.
  void count_from(std::uint64_t redispatched, std::uint64_t duplicates);
  std::optional<SteadyTime> next_expiry() const;

 private:
  struct OpenSlice {
    Slice slice;
    std::optional<WorkerNumber> holder;  // of the newest attempt; none: in the queue
    unsigned deaths = 0;
  };

  struct Held {
    SliceKey key;
    std::uint32_t attempt;
  };

  struct Worker {
    SteadyTime heard;
    bool silent = false;
    std::deque<Held> held;  // in the order given; the first is the one that runs
  };

  void requeue(const std::deque<Held>& held);
  bool is_current(WorkerNumber worker, const Held& held) const;

  Options options_;
  std::map<SliceKey, OpenSlice> open_;
  std::deque<SliceKey> queue_;
  std::map<WorkerNumber, Worker> workers_;
  std::uint64_t redispatched_ = 0;
  std::uint64_t duplicates_ = 0;
};

}  // namespace plim::flow
