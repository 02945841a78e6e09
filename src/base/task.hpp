// Coroutines, and the only way to start them.
//
// Task<T> is Asio's awaitable. A task never outlives its TaskGroup: the group starts it, cancels it
// and waits for it. Cancelling makes the current wait return Code::cancelled (or Asio's
// operation_aborted) and makes every later co_await of that task throw; the exception reaches the
// group, which drops it. That is the only exception that may pass through our code. So release
// resources by RAII, and never catch (...) around a co_await without rethrowing.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace plim {

using Executor = boost::asio::any_io_executor;
template <class T>
using Task = boost::asio::awaitable<T>;

// Belongs to one loop; every member is called on it. Must be empty when destroyed: co_await stop()
// first. So a group is a member of an object whose owner awaits that object's stop(). It is never a
// local of a coroutine that may be cancelled, since that coroutine could not wait any more.
class TaskGroup {
 public:
  explicit TaskGroup(Executor loop);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Ends a single task; does nothing once it has ended. May outlive the task and the group.
  class Handle {
   public:
    void cancel();

   private:
    friend class TaskGroup;
    struct Running;
    std::weak_ptr<Running> running_;
  };

  // Starts `task`; the name appears in the log if it ends with an exception (a bug in our code). A
  // task that is spawned after stop() is dropped.
  Handle spawn(std::string name, Task<void> task);
  // Asks every running task to end; new ones may still be spawned.
  void cancel();
  // Waits until no task runs.
  Task<void> join();
  // Rejects new tasks, cancels the running ones, waits for them.
  Task<void> stop();

  std::size_t running() const;
  Executor executor() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The loop this coroutine runs on.
Task<Executor> current_loop();
// Lets other tasks of the loop run first.
Task<void> yield_to_loop();

}  // namespace plim
