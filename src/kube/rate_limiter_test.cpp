#include "kube/rate_limiter.hpp"

#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

Task<void> take(RateLimiter& limiter, int& taken) {
  co_await limiter.acquire();
  ++taken;
}

class RateLimiterTest : public ::testing::Test {
 protected:
  void spawn(RateLimiter& limiter, int count) {
    for (int i = 0; i < count; ++i) group.spawn("take", take(limiter, taken));
    loop.run_ready();
  }

  void advance(Nanos duration) {
    clock.advance(duration);
    loop.run_ready();
  }

  Loop loop;
  FakeClock clock;
  TaskGroup group{loop.executor()};
  int taken = 0;
};

TEST_F(RateLimiterTest, lets_a_burst_through_then_one_by_one) {
  RateLimiter limiter(clock, 10, 3);
  spawn(limiter, 6);
  EXPECT_EQ(taken, 3);
  advance(99ms);
  EXPECT_EQ(taken, 3);
  advance(1ms);
  EXPECT_EQ(taken, 4);
  advance(200ms);
  EXPECT_EQ(taken, 6);
}

TEST_F(RateLimiterTest, records_how_many_waited_and_how_long) {
  RateLimiter limiter(clock, 10, 1);
  spawn(limiter, 3);
  EXPECT_EQ(limiter.delayed(), 2u);
  EXPECT_EQ(limiter.waited(), 300ms);  // 100 and 200
  advance(1s);
}

TEST_F(RateLimiterTest, refills_no_further_than_the_burst) {
  RateLimiter limiter(clock, 10, 2);
  advance(1h);
  spawn(limiter, 3);
  EXPECT_EQ(taken, 2);
  advance(100ms);
  EXPECT_EQ(taken, 3);
}

TEST_F(RateLimiterTest, zero_means_no_limit) {
  RateLimiter limiter(clock, 0, 0);
  spawn(limiter, 1000);
  EXPECT_EQ(taken, 1000);
  EXPECT_EQ(limiter.delayed(), 0u);
}

TEST_F(RateLimiterTest, a_cancelled_caller_hands_its_turn_back) {
  RateLimiter limiter(clock, 1, 1);
  spawn(limiter, 5);
  EXPECT_EQ(taken, 1);
  group.cancel();
  loop.run_ready();
  advance(1s);  // one turn is available again
  spawn(limiter, 1);
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace plim::kube
