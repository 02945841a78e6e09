#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/schema/checks.hpp"

namespace plim::local::apiserver {
namespace {

std::string fault_of(std::string_view schedule) {
  const json::value object = {{"schedule", schedule}};
  const Place root(object);
  Causes causes;
  check_schedule(root.in("schedule"), causes);
  std::vector<Cause> found = causes.take();
  return found.empty() ? "" : found.front().message;
}

TEST(Schedule, accepts_what_cron_accepts) {
  for (const char* fine : {"* * * * *", "*/5 0-6,22 1 JAN-dec mon", "0 0 ? 1/2 0", "@daily",
                           "@every 1h30m", "59 23 31 12 6"})
    EXPECT_EQ(fault_of(fine), "") << fine;
}

TEST(Schedule, reports_mistakes) {
  EXPECT_EQ(fault_of("often"),
            R"(Invalid value: "often": expected exactly 5 fields, found 1: [often])");
  EXPECT_EQ(fault_of("60 * * * *"),
            R"(Invalid value: "60 * * * *": end of range (60) above maximum (59): 60)");
  EXPECT_EQ(fault_of("* * 0 * *"),
            R"(Invalid value: "* * 0 * *": beginning of range (0) below minimum (1): 0)");
  for (const char* bad : {"5-1 * * * *", "1-2-3 * * * *", "*/0 * * * *", "x * * * *", "@sometimes",
                          "@every soon", "TZ=UTC * * * * *", "1/2/3 * * * *", "-1 * * * *"})
    EXPECT_NE(fault_of(bad), "") << bad;
}

}  // namespace
}  // namespace plim::local::apiserver
