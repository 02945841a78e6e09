// How coroutines of one loop wait for each other.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim {

// Something that may happen again and again: wait() ends at the next notify(). Everything runs on
// one loop, so nothing can slip in between looking and waiting:
//   while (!ready_) co_await changed_.wait();
// From another thread: post_to(loop, [&] { event.notify(); }). Waits unwind when their task is
// cancelled or the event is destroyed.
class Event {
 public:
  explicit Event(const Executor& loop);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Wakes everybody who waits now.
  void notify();
  Task<void> wait();
  // False: the time came first. `clock` must outlive the wait.
  Task<bool> wait_until(Clock& clock, SteadyTime deadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Throws, as every co_await of a cancelled task does. For code that has to tell apart why its wait
// ended.
Task<void> unwind_if_cancelled();

}  // namespace plim
