#include "local/controllers/garbage_graph.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Action = GarbageDecision::Action;

GarbageGraph::Node item(std::string_view uid, std::string_view owners = "[]",
                        std::string_view more = "") {
  auto object = testing::object_from_text(std::string(R"({"metadata":{"name":"x","uid":")") +
                                          std::string(uid) + R"(","ownerReferences":)" +
                                          std::string(owners) + std::string(more) + "}}");
  return GarbageGraph::Node(0, object->meta);
}

constexpr std::string_view kOwnedByA = R"([{"uid":"a","blockOwnerDeletion":true}])";
constexpr std::string_view kForeground =
    R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["foregroundDeletion"])";

TEST(GarbageGraph, checks_only_objects_whose_owner_is_unknown) {
  GarbageGraph graph;
  EXPECT_THAT(graph.put(item("a")), IsEmpty());
  EXPECT_THAT(graph.put(item("b", kOwnedByA)), IsEmpty());
  EXPECT_THAT(graph.put(item("c", R"([{"uid":"z"}])")), ElementsAre("c"));
}

TEST(GarbageGraph, a_deleted_owner_makes_its_dependents_be_checked) {
  GarbageGraph graph;
  graph.put(item("a"));
  graph.put(item("b", kOwnedByA));
  graph.put(item("c", kOwnedByA));
  EXPECT_THAT(graph.erase("a"), UnorderedElementsAre("b", "c"));
  EXPECT_THAT(graph.erase("b"), IsEmpty());
  EXPECT_EQ(graph.size(), 1u);
}

TEST(GarbageGraph, foreground_deletion_goes_down_and_comes_back_up) {
  GarbageGraph graph;
  graph.put(item("a"));
  graph.put(item("b", kOwnedByA));
  EXPECT_THAT(graph.put(item("a", "[]", kForeground)), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(graph.blocking_dependents("a").size(), 1u);
  EXPECT_THAT(graph.erase("b"), ElementsAre("a"));
  EXPECT_TRUE(graph.blocking_dependents("a").empty());
}

TEST(GarbageGraph, a_dropped_reference_frees_the_owner) {
  GarbageGraph graph;
  graph.put(item("a", "[]", kForeground));
  graph.put(item("b", kOwnedByA));
  EXPECT_THAT(graph.put(item("b")), ElementsAre("a"));
}

TEST(GarbageDecision, follows_the_state_of_all_owners) {
  const auto two = item("x", R"([{"uid":"a"},{"uid":"b"}])");
  using enum OwnerState;
  EXPECT_EQ(decide_garbage(two, {present, present}, false).action, Action::keep);
  auto one_gone = decide_garbage(two, {absent, present}, false);
  EXPECT_EQ(one_gone.action, Action::drop_references);
  EXPECT_THAT(one_gone.dropped, ElementsAre("a"));
  EXPECT_THAT(decide_garbage(two, {present, waits_for_dependents}, false).dropped,
              ElementsAre("b"));
  EXPECT_EQ(decide_garbage(two, {absent, absent}, true).action, Action::remove);
  EXPECT_EQ(decide_garbage(two, {absent, waits_for_dependents}, false).action, Action::remove);
  EXPECT_EQ(decide_garbage(two, {absent, waits_for_dependents}, true).action,
            Action::remove_in_foreground);
}

TEST(GarbageDecision, ignores_objects_that_are_being_deleted_or_have_no_owner) {
  EXPECT_EQ(decide_garbage(item("x"), {}, false).action, Action::keep);
  EXPECT_EQ(decide_garbage(item("x", kOwnedByA, kForeground), {OwnerState::absent}, false).action,
            Action::keep);
}

}  // namespace
}  // namespace plim::local::controllers
