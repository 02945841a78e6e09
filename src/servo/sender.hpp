// Sends runs to the receiver, each at least once, in order per application ID.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "loop/run_record.hpp"
#include "servo/metrics.hpp"
#include "servo/payload.hpp"
#include "servo/receiver.hpp"

namespace plim::servo {

// Belongs to one loop; co_await stop() before destroying it. An application ID whose receiver is
// slow or fails delays neither other IDs nor the callers of add(): while it waits for a retry, it
// does not count as a post in flight.
class Sender {
 public:
  struct Options {
    std::size_t in_flight = 8;
    std::chrono::milliseconds timeout{10'000};
    std::chrono::hours give_up{24};  // after the run was seen; steps of the clock do not count
    // 1 s, doubling up to 60 s, each plus or minus 20%.
    Backoff::Options backoff = {
        .first = std::chrono::milliseconds(800), .limit = std::chrono::seconds(48), .jitter = 0.5};
    Extra extra = Extra::none;
  };

  struct Callbacks {
    std::function<void(const loop::RunRecord& run)> on_sent;
    std::function<void(const loop::RunRecord& run, std::string why)> on_dead;
  };

  Sender(const Executor& loop, Receiver& receiver, Metrics& metrics, Callbacks callbacks,
         Options options, Clock& clock, Random& random = system_random());

  void start();
  void add(loop::RunRecord run);

  std::size_t queued() const { return queued_; }

  // Starts no more posts and waits for those in flight, at most `limit`.
  Task<void> drain(Nanos limit);
  Task<void> stop();

 private:
  struct Queued {
    loop::RunRecord run;
    SteadyTime give_up;
  };

  // The runs of one application ID. The first one is being sent or waits for a retry.
  struct Lane {
    std::deque<Queued> runs;
    Backoff backoff;
  };

  void begin_posts();
  Task<void> wake();
  Task<void> send_first(std::string app);
  void finish(const std::string& app);
  void try_later(const std::string& app, Nanos wait);

  Receiver& receiver_;
  Metrics& metrics_;
  Callbacks callbacks_;
  Options options_;
  Clock& clock_;
  Random& random_;
  std::unordered_map<std::string, Lane> lanes_;
  std::multimap<SteadyTime, std::string> waiting_;  // lanes by the time of their retry
  std::deque<std::string> ready_;                   // lanes whose first run can be sent now
  std::size_t queued_ = 0;
  std::size_t in_flight_ = 0;
  bool started_ = false;
  bool beginning_ = false;
  bool draining_ = false;
  Event changed_;  // a lane waits for a retry, or a post has ended while draining
  TaskGroup tasks_;
};

// Whether the same post may succeed later.
bool is_worth_retrying(int status);

}  // namespace plim::servo
