#include "base/clock.hpp"

#include <map>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace plim {
namespace asio = boost::asio;

namespace {

class SystemClock final : public Clock {
 public:
  SteadyTime steady() const override { return std::chrono::steady_clock::now(); }

  WallTime wall() const override { return std::chrono::system_clock::now(); }

  Task<void> sleep_until(SteadyTime when) override {
    asio::steady_timer timer(co_await asio::this_coro::executor, when);
    co_await timer.async_wait(asio::use_awaitable);
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

struct FakeClock::State {
  struct Sleeper {
    asio::steady_timer timer;  // never expires; cancelled to wake
    bool woken = false;
  };

  SteadyTime now{};
  WallTime wall{};
  std::multimap<SteadyTime, Sleeper*> sleepers;  // each lives in its coroutine's frame
};

FakeClock::FakeClock(WallTime start) : state_(std::make_shared<State>()) {
  state_->wall = start;
}

FakeClock::~FakeClock() = default;

SteadyTime FakeClock::steady() const {
  return state_->now;
}

WallTime FakeClock::wall() const {
  return state_->wall;
}

std::size_t FakeClock::sleepers() const {
  return state_->sleepers.size();
}

Task<void> FakeClock::sleep_until(SteadyTime when) {
  struct Listed {  // removes itself from the list however the coroutine ends

    Listed(std::shared_ptr<State> s, const Executor& loop, SteadyTime until)
        : state(std::move(s)),
          sleeper{asio::steady_timer(loop, SteadyTime::max())},
          place(state->sleepers.emplace(until, &sleeper)) {}

    ~Listed() {
      if (!sleeper.woken) state->sleepers.erase(place);
    }

    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;
    std::shared_ptr<State> state;
    State::Sleeper sleeper;
    std::multimap<SteadyTime, State::Sleeper*>::iterator place;
  };

  if (when <= state_->now) co_return;
  Executor loop = co_await asio::this_coro::executor;
  Listed listed(state_, loop, when);
  co_await listed.sleeper.timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!listed.sleeper.woken) throw boost::system::system_error(asio::error::operation_aborted);
}

void FakeClock::advance(Nanos duration) {
  state_->now += std::chrono::duration_cast<SteadyTime::duration>(duration);
  state_->wall += duration;
  while (!state_->sleepers.empty() && state_->sleepers.begin()->first <= state_->now) {
    auto first = state_->sleepers.begin();
    first->second->woken = true;
    first->second->timer.cancel();
    state_->sleepers.erase(first);
  }
}

bool FakeClock::advance_to_next() {
  if (state_->sleepers.empty()) return false;
  advance(state_->sleepers.begin()->first - state_->now);
  return true;
}

}  // namespace plim
