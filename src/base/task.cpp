#include "base/task.hpp"

#include <list>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "base/log.hpp"
#include "base/result.hpp"

namespace plim {
namespace asio = boost::asio;

namespace {

// If a task never waited, co_spawn adds a wait of its own. In a task that was cancelled by then, it
// would throw where nothing catches it.
Task<void> without_a_throw_at_its_end(Task<void> task) {
  std::exception_ptr error;
  try {
    co_await std::move(task);
  } catch (...) {
    error = std::current_exception();
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  if (error) std::rethrow_exception(error);
}

}  // namespace

struct TaskGroup::Handle::Running {
  std::string name;
  asio::cancellation_signal cancel;
};

struct TaskGroup::State : std::enable_shared_from_this<TaskGroup::State> {
  using Running = std::list<std::shared_ptr<Handle::Running>>;

  explicit State(Executor executor) : loop(std::move(executor)), emptied(loop) {
    emptied.expires_at(asio::steady_timer::time_point::max());
  }

  void ended(Running::iterator which, const std::exception_ptr& error) {
    if (error) report((*which)->name, error);
    running.erase(which);
    if (running.empty()) emptied.cancel();
  }

  static void report(const std::string& name, const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
      if (e.code() == asio::error::operation_aborted) return;  // cancelled, as requested
      log::error("task", "ended by an exception", {{"task", name}, {"what", e.what()}});
    } catch (const std::exception& e) {
      log::error("task", "ended by an exception", {{"task", name}, {"what", e.what()}});
    }
  }

  Executor loop;
  Running running;
  asio::steady_timer emptied;  // never expires; cancelled whenever the last task has ended
  bool stopping = false;
};

TaskGroup::TaskGroup(Executor loop) : state_(std::make_shared<State>(std::move(loop))) {}

TaskGroup::~TaskGroup() {
  PLIM_ASSERT(state_->running.empty());
}

void TaskGroup::Handle::cancel() {
  if (auto running = running_.lock()) running->cancel.emit(asio::cancellation_type::terminal);
}

TaskGroup::Handle TaskGroup::spawn(std::string name, Task<void> task) {
  Handle handle;
  if (state_->stopping) return handle;
  auto running = std::make_shared<Handle::Running>();
  running->name = std::move(name);
  handle.running_ = running;
  auto which = state_->running.insert(state_->running.end(), running);
  auto done = [state = state_, which](const std::exception_ptr& error) {
    state->ended(which, error);
  };
  asio::co_spawn(state_->loop, without_a_throw_at_its_end(std::move(task)),
                 asio::bind_cancellation_slot(running->cancel.slot(), std::move(done)));
  return handle;
}

void TaskGroup::cancel() {
  // A signal only posts the end of a task, but a task that was never resumed may end at once.
  for (auto it = state_->running.begin(); it != state_->running.end();) {
    auto running = *it++;
    running->cancel.emit(asio::cancellation_type::terminal);
  }
}

Task<void> TaskGroup::join() {
  auto state = state_;
  while (!state->running.empty()) {
    co_await state->emptied.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

Task<void> TaskGroup::stop() {
  auto state = state_;
  state->stopping = true;
  cancel();
  // A caller that is cancelled must continue to wait, or the group would be destroyed before its
  // tasks.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  while (!state->running.empty()) {
    co_await state->emptied.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await asio::this_coro::reset_cancellation_state();
}

std::size_t TaskGroup::running() const {
  return state_->running.size();
}

Executor TaskGroup::executor() const {
  return state_->loop;
}

Task<Executor> current_loop() {
  Executor loop = co_await asio::this_coro::executor;
  co_return loop;
}

Task<void> yield_to_loop() {
  Executor loop = co_await asio::this_coro::executor;
  co_await asio::post(loop, asio::use_awaitable);
}

}  // namespace plim
