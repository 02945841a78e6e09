// Keeps a client from asking more of an API server than it should.
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

  // Returns when the caller may go on, and how long that took. A caller cancelled while it waits
  // hands its turn back.
  Task<Nanos> acquire();

  std::uint64_t delayed() const { return delayed_; }  // callers that had to wait

  Nanos waited() const { return waited_; }  // by all of them together

 private:
  void refill();

  Clock& clock_;
  double per_nano_;
  double burst_;
  double tokens_;  // below zero: turns already promised to those who wait
  SteadyTime refilled_;
  std::uint64_t delayed_ = 0;
  Nanos waited_{0};
};

}  // namespace plim::kube
