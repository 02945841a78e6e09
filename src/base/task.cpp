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

struct TaskGroup::State : std::enable_shared_from_this<TaskGroup::State> {
  struct Running {
    std::string name;
    asio::cancellation_signal cancel;
  };

  explicit State(Executor executor) : loop(std::move(executor)), emptied(loop) {
    emptied.expires_at(asio::steady_timer::time_point::max());
  }

  void ended(std::list<Running>::iterator which, const std::exception_ptr& error) {
    if (error) report(which->name, error);
    running.erase(which);
    if (running.empty()) emptied.cancel();
  }

  static void report(const std::string& name, const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
      if (e.code() == asio::error::operation_aborted) return;  // cancelled, as asked
      log::error("task", "ended by an exception", {{"task", name}, {"what", e.what()}});
    } catch (const std::exception& e) {
      log::error("task", "ended by an exception", {{"task", name}, {"what", e.what()}});
    }
  }

  Executor loop;
  std::list<Running> running;
  asio::steady_timer emptied;  // never expires; cancelled whenever the last task has ended
  bool stopping = false;
};

TaskGroup::TaskGroup(Executor loop) : state_(std::make_shared<State>(std::move(loop))) {}

TaskGroup::~TaskGroup() {
  PLIM_ASSERT(state_->running.empty());
}

void TaskGroup::spawn(std::string name, Task<void> task) {
  if (state_->stopping) return;
  auto which = state_->running.emplace(state_->running.end());
  which->name = std::move(name);
  auto done = [state = state_, which](const std::exception_ptr& error) {
    state->ended(which, error);
  };
  asio::co_spawn(state_->loop, std::move(task),
                 asio::bind_cancellation_slot(which->cancel.slot(), std::move(done)));
}

void TaskGroup::cancel() {
  // A signal only posts what it ends, but a task that was never resumed may leave the list at once.
  for (auto it = state_->running.begin(); it != state_->running.end();) {
    auto next = std::next(it);
    it->cancel.emit(asio::cancellation_type::terminal);
    it = next;
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
  // A caller cancelled while it waits must go on waiting, or the group would be destroyed under its
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
