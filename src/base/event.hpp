// Lets coroutines of one loop wait for each other.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim {

// An event that may occur repeatedly: wait() ends at the next notify(). Everything runs on one
// loop, so nothing can happen between checking and waiting:
//   while (!ready_) co_await changed_.wait();
// From another thread: post_to(loop, [&] { event.notify(); }). A wait ends with an exception when
// its task is cancelled or the event is destroyed.
class Event {
 public:
  explicit Event(const Executor& loop);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Wakes all current waiters.
  void notify();
  Task<void> wait();
  // False at the deadline. `clock` must outlive the wait.
  Task<bool> wait_until(Clock& clock, SteadyTime deadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Throws, as every co_await of a cancelled task does. For code that has to know why its wait
// ended.
Task<void> unwind_if_cancelled();

}  // namespace plim
