#include "base/clock_timer.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

class ClockTimerTest : public ::testing::Test {
 protected:
  void set(int number, Nanos from_now) {
    timer->set(clock.steady() + from_now, [this, number] { called.push_back(number); });
  }

  void advance(Nanos duration) {
    loop.run_ready();
    clock.advance(duration);
    loop.run_ready();
  }

  Loop loop;
  FakeClock clock;
  std::optional<ClockTimer> timer{std::in_place, loop.executor(), clock};
  std::vector<int> called;
};

TEST_F(ClockTimerTest, calls_once_when_its_time_has_come) {
  set(1, 2s);
  advance(1s);
  EXPECT_TRUE(called.empty());
  advance(1s);
  EXPECT_EQ(called, (std::vector{1}));
  advance(1h);
  EXPECT_EQ(called, (std::vector{1}));
}

TEST_F(ClockTimerTest, keeps_only_what_was_set_last) {
  set(1, 1s);
  set(2, 2s);
  advance(1s);
  set(3, 5s);
  advance(2s);
  EXPECT_TRUE(called.empty());
  advance(3s);
  EXPECT_EQ(called, (std::vector{3}));
  EXPECT_EQ(clock.sleepers(), 0u);
}

TEST_F(ClockTimerTest, may_be_set_again_by_its_own_call) {
  timer->set(clock.steady() + 1s, [this] {
    called.push_back(1);
    set(2, 1s);
  });
  advance(1s);
  advance(1s);
  EXPECT_EQ(called, (std::vector{1, 2}));
}

TEST_F(ClockTimerTest, calls_soon_for_a_time_that_is_past) {
  set(1, 0s);
  EXPECT_TRUE(called.empty());
  loop.run_ready();
  EXPECT_EQ(called, (std::vector{1}));
}

TEST_F(ClockTimerTest, calls_nothing_once_cancelled_or_destroyed) {
  set(1, 1s);
  timer->cancel();
  advance(2s);
  set(2, 1s);
  loop.run_ready();
  set(3, 0s);
  timer.reset();
  advance(2s);
  EXPECT_TRUE(called.empty());
  EXPECT_EQ(clock.sleepers(), 0u);
}

}  // namespace
}  // namespace plim
