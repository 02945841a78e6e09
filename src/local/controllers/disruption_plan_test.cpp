#include "local/controllers/disruption_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/controllers/conditions.hpp"
#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

const WallTime kNow = testing::at("2026-01-01T12:00:00Z");

DisruptionInput input(std::string_view spec, int ready, int unready,
                      std::string_view status = "{}") {
  DisruptionInput out;
  out.budget = testing::object_from_text(
      fmt::format(R"({{"metadata":{{"name":"b"}},"spec":{},"status":{}}})", spec, status));
  for (int i = 0; i < ready + unready; ++i) {
    json::object condition{{"type", "Ready"}, {"status", i < ready ? "True" : "False"}};
    out.pods.push_back(testing::pod_from({{"metadata", {{"name", fmt::format("p{}", i)}}},
                                          {"status", {{"conditions", json::array{condition}}}}}));
  }
  out.expected = ready + unready;
  return out;
}

std::int64_t allowed(const DisruptionInput& given) {
  return *int_at(plan_disruptions(given, kNow).status, {"disruptionsAllowed"});
}

TEST(Disruptions, keep_the_minimum) {
  EXPECT_EQ(allowed(input(R"({"minAvailable":2})", 3, 0)), 1);
  EXPECT_EQ(allowed(input(R"({"minAvailable":2})", 2, 1)), 0);
  EXPECT_EQ(allowed(input(R"({"minAvailable":"50%"})", 5, 0)), 2);  // half of five, rounded up
  EXPECT_EQ(allowed(input(R"({"maxUnavailable":1})", 5, 0)), 1);
  EXPECT_EQ(allowed(input(R"({"maxUnavailable":1})", 4, 1)), 0);
  EXPECT_EQ(allowed(input(R"({"maxUnavailable":"30%"})", 10, 0)), 3);
  EXPECT_EQ(allowed(input(R"({"minAvailable":0})", 0, 0)), 0);
}

TEST(Disruptions, count_granted_evictions_until_they_happen_or_are_given_up) {
  auto given = input(R"({"minAvailable":2})", 4, 0,
                     R"({"disruptedPods":{"p0":"2026-01-01T11:59:00Z","p9":"2026-01-01T11:59:59Z",
                         "p1":"2026-01-01T11:00:00Z"}})");
  auto plan = plan_disruptions(given, kNow);
  EXPECT_EQ(int_at(plan.status, {"disruptionsAllowed"}), 1);
  EXPECT_EQ(to_json(plan.status.at("disruptedPods")), R"({"p0":"2026-01-01T11:59:00Z"})");
  EXPECT_EQ(plan.look_again, testing::at("2026-01-01T12:01:00Z"));
}

TEST(Disruptions, say_whether_there_is_room) {
  auto room = plan_disruptions(input(R"({"minAvailable":1})", 2, 0), kNow);
  EXPECT_TRUE(has_true_condition(room.status, "DisruptionAllowed"));
  auto none = plan_disruptions(input(R"({"minAvailable":1})", 1, 0), kNow);
  EXPECT_FALSE(has_true_condition(none.status, "DisruptionAllowed"));
}

}  // namespace
}  // namespace plim::local::controllers
