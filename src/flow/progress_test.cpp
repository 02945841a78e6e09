#include "flow/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::flow {
namespace {

using namespace std::chrono_literals;

TEST(Progress, a_rate_follows_what_happens_now) {
  Rate rate;
  SteadyTime now{};
  std::uint64_t total = 0;
  for (int i = 0; i < 100; ++i) rate.update(now += 1s, total += 10);
  EXPECT_NEAR(rate.per_second(), 10, 0.2);
  for (int i = 0; i < 200; ++i) rate.update(now += 1s, total += 50);
  EXPECT_NEAR(rate.per_second(), 50, 1);
}

TEST(Progress, has_no_eta_without_a_total) {
  RunProgress progress;
  progress.slices_done = 10;
  EXPECT_FALSE(progress.eta());
  progress.slices_per_second = 5;
  EXPECT_FALSE(progress.eta()) << "the total is not known";
  EXPECT_THAT(progress_line(progress), ::testing::HasSubstr("eta unknown"));
  progress.slices_total = 60;
  EXPECT_EQ(progress.eta(), 10s);
}

TEST(Progress, numbers_are_for_people) {
  EXPECT_EQ(human_count(950), "950");
  EXPECT_EQ(human_count(12'345), "12.3k");
  EXPECT_EQ(human_count(4'000'000), "4.00M");
  EXPECT_EQ(human_bytes(999'600), "1.00 MB");
}

}  // namespace
}  // namespace plim::flow
