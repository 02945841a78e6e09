#include "base/event.hpp"

#include <cstdint>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace plim {
namespace asio = boost::asio;

namespace {

[[noreturn]] void unwind() {
  throw boost::system::system_error(asio::error::operation_aborted);
}

}  // namespace

struct Event::State {
  explicit State(const Executor& loop) : timer(loop, SteadyTime::max()) {}

  asio::steady_timer timer;  // never expires; cancelled to make the waiters check again
  std::uint64_t notified = 0;
  bool destroyed = false;

  // One wait on the timer; the caller checks why it ended.
  static Task<void> look_again(std::shared_ptr<State> state) {
    co_await state->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await unwind_if_cancelled();
    if (state->destroyed) unwind();
  }
};

Event::Event(const Executor& loop) : state_(std::make_shared<State>(loop)) {}

Event::~Event() {
  state_->destroyed = true;
  state_->timer.cancel();
}

void Event::notify() {
  ++state_->notified;
  state_->timer.cancel();
}

Task<void> Event::wait() {
  auto state = state_;
  const auto before = state->notified;
  while (state->notified == before) co_await State::look_again(state);
}

Task<bool> Event::wait_until(Clock& clock, SteadyTime deadline) {
  // The clock may be a fake, so a separate sleep handles the deadline.
  struct Alarm {
    asio::cancellation_signal cancel;
    bool sleeping = true;
  };

  struct Switch {
    std::shared_ptr<Alarm> alarm;

    ~Switch() {
      if (alarm->sleeping) alarm->cancel.emit(asio::cancellation_type::terminal);
    }
  };

  auto state = state_;
  const auto before = state->notified;
  if (deadline <= clock.steady()) co_return false;
  auto alarm = std::make_shared<Alarm>();
  auto woken = [alarm, state](const std::exception_ptr&) {
    alarm->sleeping = false;
    state->timer.cancel();
  };
  Executor loop = co_await asio::this_coro::executor;
  asio::co_spawn(loop, clock.sleep_until(deadline),
                 asio::bind_cancellation_slot(alarm->cancel.slot(), std::move(woken)));
  const Switch off_at_the_end{alarm};
  while (state->notified == before && alarm->sleeping) co_await State::look_again(state);
  co_return state->notified != before;
}

Task<void> unwind_if_cancelled() {
  auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) unwind();
}

}  // namespace plim
