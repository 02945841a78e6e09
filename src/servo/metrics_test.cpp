#include "servo/metrics.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using ::testing::HasSubstr;

TEST(ServoMetrics, have_at_most_two_hundred_applications_and_the_rest) {
  metrics::Registry registry;
  Metrics metrics(registry);
  for (int i = 0; i < 250; ++i)
    metrics.count_run(testing::some_run("u", "app" + std::to_string(i)));
  std::set<std::string> lines;
  const std::string text = registry.expose();
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with("plimsoll_servo_runs_total{")) lines.emplace(line);
  EXPECT_EQ(lines.size(), 201u);
  EXPECT_TRUE(lines.contains(R"(plimsoll_servo_runs_total{app="other",result="succeeded"} 50)"));
}

TEST(ServoMetrics, tell_successes_failures_and_deletions_apart) {
  metrics::Registry registry;
  Metrics metrics(registry);
  loop::RunRecord run = testing::some_run("u", "a");
  metrics.count_run(run);
  run.exit_code = 3;
  metrics.count_run(run);
  run.result = loop::RunRecord::Result::deleted;
  metrics.count_run(run);
  const std::string text = registry.expose();
  for (const char* result : {"succeeded", "failed", "deleted"})
    EXPECT_THAT(text, HasSubstr(fmt::format(R"({{app="a",result="{}"}} 1)", result)));
  EXPECT_THAT(text, HasSubstr(R"(plimsoll_servo_run_seconds_sum{app="a"} 84)"));
}

}  // namespace
}  // namespace plim::servo
