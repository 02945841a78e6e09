#include "local/kubelet/runtime/restart_backoff.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

TEST(RestartBackoff, doubles_from_ten_seconds_to_five_minutes) {
  RestartBackoff backoff;
  SteadyTime now{};
  for (Nanos want : std::vector<Nanos>{0s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    EXPECT_EQ(backoff.delay(now), want);
    const SteadyTime ended = now;
    now += backoff.delay(ended);
    backoff.note_restart(ended, now);
  }
}

TEST(RestartBackoff, forgets_after_ten_minutes_of_running) {
  RestartBackoff backoff;
  const SteadyTime start{};
  backoff.note_restart(start, start);
  backoff.note_restart(start, start);
  EXPECT_EQ(backoff.delay(start + 10min), Nanos(20s));
  EXPECT_EQ(backoff.delay(start + 10min + 1s), Nanos(0));
  backoff.note_restart(start + 11min, start + 11min);
  EXPECT_EQ(backoff.delay(start + 11min), Nanos(10s));
}

}  // namespace
}  // namespace plim::local::kubelet
