#include "base/clock_timer.hpp"

#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

namespace plim {
namespace asio = boost::asio;

// Used on the loop only.
struct ClockTimer::Sleep {
  asio::cancellation_signal cancel;
  std::function<void()> then;
  bool sleeping = true;

  // Ends without an exception: co_spawn would have nobody to give it to when the sleep is cancelled
  // before it has begun.
  static Task<void> run(std::shared_ptr<Sleep> sleep, Task<void> until) {
    try {
      co_await std::move(until);
    } catch (const boost::system::system_error&) {
      sleep->then = nullptr;
    }
    co_await asio::this_coro::throw_if_cancelled(false);
  }
};

ClockTimer::ClockTimer(Executor loop, Clock& clock) : loop_(std::move(loop)), clock_(clock) {}

ClockTimer::~ClockTimer() {
  cancel();
}

void ClockTimer::set(SteadyTime when, std::function<void()> then) {
  cancel();
  sleep_ = std::make_shared<Sleep>();
  sleep_->then = std::move(then);
  auto done = [sleep = sleep_](const std::exception_ptr&) {
    sleep->sleeping = false;
    if (auto call = std::exchange(sleep->then, nullptr)) call();
  };
  asio::co_spawn(loop_, Sleep::run(sleep_, clock_.sleep_until(when)),
                 asio::bind_cancellation_slot(sleep_->cancel.slot(), std::move(done)));
}

void ClockTimer::cancel() {
  if (!sleep_) return;
  asio::dispatch(loop_, [sleep = std::exchange(sleep_, nullptr)] {
    sleep->then = nullptr;
    if (sleep->sleeping) sleep->cancel.emit(asio::cancellation_type::terminal);
  });
}

}  // namespace plim
