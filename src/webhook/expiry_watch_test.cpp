#include "webhook/expiry_watch.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim::webhook {
namespace {

using namespace std::chrono_literals;

TEST(ExpiryWatch, reports_each_certificate_once) {
  Loop loop;
  FakeClock clock;
  const WallTime first = clock.wall() + 90s;
  WallTime expires = first;
  std::vector<WallTime> told;
  ExpiryWatch watch(
      loop.executor(), [&] { return expires; }, [&](WallTime at) { told.push_back(at); }, clock);
  watch.start();
  loop.run_ready();
  const auto pass_a_look = [&] {
    clock.advance_to_next();
    loop.run_ready();
  };
  pass_a_look();
  EXPECT_TRUE(told.empty());
  for (int i = 0; i < 3; ++i) pass_a_look();
  EXPECT_EQ(told, std::vector<WallTime>({first}));
  const WallTime second = clock.wall() + 10s;
  expires = second;
  for (int i = 0; i < 3; ++i) pass_a_look();
  EXPECT_EQ(told, std::vector<WallTime>({first, second}));
  run_to_end(loop, watch.stop());
}

}  // namespace
}  // namespace plim::webhook
