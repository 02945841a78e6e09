// A callback at a time of a Clock, for code that cannot wait in a coroutine.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim {

// Belongs to one loop; only the destructor may run on another thread. The clock must outlive it.
class ClockTimer {
 public:
  ClockTimer(Executor loop, Clock& clock);
  ~ClockTimer();
  ClockTimer(const ClockTimer&) = delete;
  ClockTimer& operator=(const ClockTimer&) = delete;

  // Calls `then` on the loop at this time, instead of what was set before.
  void set(SteadyTime when, std::function<void()> then);
  // Nothing is called any more.
  void cancel();

 private:
  struct Sleep;

  Executor loop_;
  Clock& clock_;
  std::shared_ptr<Sleep> sleep_;
};

}  // namespace plim
