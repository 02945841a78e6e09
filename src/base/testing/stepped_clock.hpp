// A clock whose time of day is set while it runs, as by an administrator or by NTP.
#pragma once

#include "base/clock.hpp"

namespace plim::testing {

// Durations and sleepers are those of `time`, which outlives it. Belongs to one loop.
class SteppedClock final : public Clock {
 public:
  explicit SteppedClock(FakeClock& time) : time_(time) {}

  SteadyTime steady() const override { return time_.steady(); }

  WallTime wall() const override { return time_.wall() + stepped_; }

  Task<void> sleep_until(SteadyTime when) override { return time_.sleep_until(when); }

  void step(Nanos by) { stepped_ += by; }

 private:
  FakeClock& time_;
  Nanos stepped_{0};
};

}  // namespace plim::testing
