#include "sched/preempt_holds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"

namespace plim::sched {
namespace {

using placement::testing::pod_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodPointer victim(std::string_view uid) {
  return pod_of(fmt::format("{{metadata: {{name: v, uid: {}}}, spec: {{containers: []}}}}", uid));
}

PodPointer leaving_victim(std::string_view uid) {
  return pod_of(
      fmt::format("{{metadata: {{name: v, uid: {}, deletionTimestamp: '2026-01-01T00:00:00Z'}}, "
                  "spec: {{containers: []}}}}",
                  uid));
}

TEST(PreemptHolds, hold_until_the_last_victim_leaves) {
  PreemptHolds holds;
  holds.begin("p", std::vector{victim("a"), victim("b"), leaving_victim("c")});
  EXPECT_TRUE(holds.holds("p"));
  EXPECT_THAT(holds.leaves("a"), IsEmpty());
  EXPECT_THAT(holds.leaves("other"), IsEmpty());
  EXPECT_THAT(holds.leaves("b"), ElementsAre("p"));
  EXPECT_FALSE(holds.holds("p"));
}

TEST(PreemptHolds, victims_that_are_being_deleted_hold_no_pod) {
  PreemptHolds holds;
  holds.begin("p", std::vector{leaving_victim("c")});
  EXPECT_FALSE(holds.holds("p"));
}

TEST(PreemptHolds, end_with_the_preemptor_or_a_victim_that_stays) {
  PreemptHolds holds;
  holds.begin("p", std::vector{victim("a")});
  EXPECT_TRUE(holds.end("p"));
  EXPECT_FALSE(holds.end("p"));
  EXPECT_FALSE(holds.holds("p"));
  EXPECT_THAT(holds.leaves("a"), IsEmpty());
}

}  // namespace
}  // namespace plim::sched
