// Limits the requests of a client to an API server.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim::kube {

// A token bucket: `burst` requests at once, then `qps` a second, served in the order they came.
// Belongs to one loop.
class RateLimiter {
 public:
  // A qps of 0 or less: no limit.
  RateLimiter(Clock& clock, double qps, int burst);

  // Waits until the caller may go on; returns how long that took. A caller that is cancelled while
  // it waits gives its turn back.
  Task<Nanos> acquire();

  std::uint64_t delayed() const { return delayed_; }  // callers that had to wait

  Nanos waited() const { return waited_; }  // total of all callers

 private:
  void refill();

  Clock& clock_;
  double per_nano_;
  double burst_;
  double tokens_;  // below zero: turns promised to waiting callers
  SteadyTime refilled_;
  std::uint64_t delayed_ = 0;
  Nanos waited_{0};
};

}  // namespace plim::kube
