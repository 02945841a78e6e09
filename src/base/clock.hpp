// Clocks, passed as a parameter so that tests can control time.
#pragma once

#include <chrono>
#include <memory>

#include "base/task.hpp"

namespace plim {

using Nanos = std::chrono::nanoseconds;
using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::sys_time<Nanos>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime steady() const = 0;  // for durations and deadlines
  virtual WallTime wall() const = 0;      // for time stamps
  // Sleeps on the loop of the calling coroutine; ends early, by an exception, when its task is
  // cancelled.
  virtual Task<void> sleep_until(SteadyTime when) = 0;

  Task<void> sleep(Nanos duration) { return sleep_until(steady() + duration); }
};

// The clock of the machine; lives as long as the process.
Clock& system_clock();

// Changes only when advanced. Sleepers wake in the order of their times. Belongs to one loop.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime start = WallTime(std::chrono::seconds(1'700'000'000)));
  ~FakeClock() override;
  SteadyTime steady() const override;
  WallTime wall() const override;
  Task<void> sleep_until(SteadyTime when) override;

  void advance(Nanos duration);
  std::size_t sleepers() const;
  // Advances to the time of the next sleeper; false if there is none.
  bool advance_to_next();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plim
