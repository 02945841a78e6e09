// Tracks which worker runs which slice: the queue, the leases, and which report counts if two
// workers report the same slice. Has no clock, files or sockets; the controller calls it for each
// event.
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
    // A slice fails if this many workers died while running it.
    unsigned most_deaths = 4;
  };

  // A message to one worker.
  struct Order {
    WorkerNumber worker = 0;
    Cancel cancel;
  };

  struct Assignment {
    WorkerNumber worker = 0;
    Slice slice;
  };

  enum class Verdict {
    accepted,   // the slice is finished: write the report to the ledger
    duplicate,  // another worker reported it before: drop the report
    dropped,    // neither a result nor a duplicate
  };

  explicit Dispatcher(Options options) : options_(options) {}

  void add(Slice slice);
  void join(WorkerNumber worker, SteadyTime now);
  // The worker has ended. Its slices go to the front of the queue. Slices during which too many
  // workers died are returned instead; they have failed.
  std::vector<Slice> leave(WorkerNumber worker);
  void heard_from(WorkerNumber worker, SteadyTime now);
  // The controller did not read messages for this time, so silent workers must not be blamed for
  // it.
  void excuse(Nanos time);
  // Takes the slices from workers that were silent for a whole lease.
  std::vector<Order> expire(SteadyTime now);

  Verdict report(WorkerNumber worker, const SliceReport& report, std::vector<Order>& orders);

  // Assigns the oldest slice to a worker that has fewer than `depth` slices.
  std::optional<Assignment> assign(std::size_t depth);

  std::size_t queued() const { return queue_.size(); }

  std::size_t running() const { return open_.size() - queue_.size(); }  // assigned, not reported

  std::size_t open() const { return open_.size(); }

  std::size_t workers() const { return workers_.size(); }

  bool is_here(WorkerNumber worker) const { return workers_.contains(worker); }

  std::uint64_t redispatched() const { return redispatched_; }

  std::uint64_t duplicates() const { return duplicates_; }

  // Sets the initial counts of a resumed execution.
  void count_from(std::uint64_t redispatched, std::uint64_t duplicates);
  std::optional<SteadyTime> next_expiry() const;

 private:
  struct OpenSlice {
    Slice slice;
    std::optional<WorkerNumber> holder;  // has the newest attempt; none: the slice is in the queue
    unsigned deaths = 0;
  };

  struct Held {
    SliceKey key;
    std::uint32_t attempt;
  };

  struct Worker {
    SteadyTime heard;
    bool silent = false;
    std::deque<Held> held;  // in the order of assignment; the first one is running
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
