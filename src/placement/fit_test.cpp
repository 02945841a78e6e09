#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/cycle.hpp"
#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::node_of;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;
using testing::raw_score;

// Two equal nodes, since a single feasible node is not scored.
Engine two_nodes(std::string_view allocatable) {
  Engine out;
  for (auto name : {"a", "b"})
    out.set_node(node_of(
        fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {}}}}}", name, allocatable)));
  return out;
}

void use(Engine& engine, std::string_view node, std::string_view requests) {
  engine.set_pod(plain_pod("there", requests), node);
}

constexpr auto kFit = PluginId::NodeResourcesFit;
constexpr auto kBalanced = PluginId::NodeResourcesBalancedAllocation;

TEST(FitScore, least_allocated_prefers_empty_nodes) {
  auto engine = two_nodes("{cpu: 4, memory: 32Gi, pods: 110}");
  auto made = decide_all(engine, plain_pod("p", "{cpu: 100m, memory: 500Mi}"), default_profile());
  EXPECT_EQ(raw_score(made, "a", kFit), 97);
  EXPECT_EQ(raw_score(made, "a", kBalanced), 74);  // it makes an empty node uneven by a little
}

TEST(FitScore, counts_the_pods_on_the_node) {
  auto engine = two_nodes("{cpu: 4, memory: 10000, pods: 110}");
  use(engine, "a", "{cpu: 2, memory: 3000}");
  auto pod = plain_pod("p", "{cpu: 1, memory: 2000}");
  EXPECT_EQ(raw_score(decide_all(engine, pod, default_profile()), "a", kFit), 37);
  EXPECT_EQ(raw_score(decide_all(engine, pod, default_profile()), "a", kBalanced), 73);
  Profile most = default_profile();
  most.fit.strategy = FitStrategy::MostAllocated;
  EXPECT_EQ(raw_score(decide_all(engine, pod, most), "a", kFit), 62);
}

TEST(FitScore, before_1_36_balanced_looks_only_at_the_node_with_the_pod) {
  Release old;
  old.minor = 35;
  auto engine = two_nodes("{cpu: 4, memory: 10000, pods: 110}");
  use(engine, "a", "{cpu: 2, memory: 3000}");
  const auto made =
      decide_all(engine, plain_pod("p", "{cpu: 1, memory: 2000}"), default_profile(old));
  EXPECT_EQ(raw_score(made, "a", kBalanced), 87);
}

TEST(FitScore, balanced_gives_a_higher_score_for_more_equal_use) {
  auto engine = two_nodes("{cpu: 6, memory: 10000, pods: 110}");
  use(engine, "a", "{cpu: 1, memory: 3000}");
  auto made = decide_all(engine, plain_pod("p", "{cpu: 2, memory: 2000}"), default_profile());
  EXPECT_EQ(raw_score(made, "a", kFit), 50);
  EXPECT_EQ(raw_score(made, "a", kBalanced), 78);
}

TEST(FitScore, pods_without_requests_count_by_default_and_are_not_balanced) {
  auto engine = two_nodes("{cpu: 8, memory: 16Gi, pods: 110}");
  use(engine, "a", "{cpu: 100m, memory: 50Mi}");
  auto made = decide_all(engine, plain_pod("p"), default_profile());
  EXPECT_EQ(raw_score(made, "a", kFit), 97);
  EXPECT_EQ(raw_score(made, "a", kBalanced), -1);
}

TEST(FitScore, follows_the_shape_and_drops_resources_that_score_nothing) {
  auto engine = two_nodes("{cpu: 8, memory: 1Gi, example.com/gpu: 4, pods: 110}");
  use(engine, "a", "{cpu: 1, memory: 256Mi, example.com/gpu: 1}");
  Profile profile = default_profile();
  profile.fit.strategy = FitStrategy::RequestedToCapacityRatio;
  profile.fit.shape = {{0, 0}, {100, 10}};
  profile.fit.resources = {{"cpu", 3}, {"memory", 1}, {"example.com/gpu", 5}};
  auto pod = plain_pod("p", "{cpu: 2, memory: 256Mi, example.com/gpu: 1}");
  EXPECT_EQ(raw_score(decide_all(engine, pod, profile), "a", kFit), 46);
  profile.fit.shape = {{0, 10}, {100, 0}};
  profile.fit.resources = {{"cpu", 1}, {"memory", 1}};
  EXPECT_EQ(raw_score(decide_all(engine, pod, profile), "a", kFit), 57);
}

TEST(FitFilter, lists_all_missing_resources_and_marks_unresolvable_ones) {
  Engine engine;
  engine.set_node(
      node_of("{metadata: {name: small}, status: {allocatable: {cpu: 1, memory: 1Gi}}}"));
  engine.set_node(
      node_of("{metadata: {name: full}, status: {allocatable: {cpu: 8, memory: 64Gi, pods: 10}}}"));
  use(engine, "full", "{cpu: 7}");
  auto made = decide_all(engine, plain_pod("p", "{cpu: 2, memory: 2Gi}"), default_profile());
  EXPECT_EQ(made.outcome, Decision::Outcome::unschedulable);
  EXPECT_EQ(made.message,
            "0/2 nodes are available: 1 Insufficient memory, 1 Too many pods, 2 Insufficient cpu.");
  ASSERT_EQ(made.rejections.size(), 2u);
  for (const Rejection& one : made.rejections)
    EXPECT_EQ(one.code,
              one.reasons.size() > 1 ? RejectCode::unresolvable : RejectCode::unschedulable);
  EXPECT_EQ(made.rejecting_plugins, std::vector{kFit});
}

TEST(FitFilter, ignores_the_resources_it_is_told_to) {
  auto engine = two_nodes("{cpu: 8, memory: 1Gi, pods: 110}");
  Profile profile = default_profile();
  auto pod = plain_pod("p", "{example.com/gpu: 1, other.org/nic: 1}");
  EXPECT_EQ(
      decide_all(engine, pod, profile).message,
      "0/2 nodes are available: 2 Insufficient example.com/gpu, 2 Insufficient other.org/nic.");
  profile.fit.ignored_resources = {"example.com/gpu"};
  profile.fit.ignored_groups = {"other.org"};
  EXPECT_EQ(decide_all(engine, pod, profile).feasible, 2u);
}

TEST(FitFilter, a_removed_pod_gives_its_room_back) {
  Engine engine;
  engine.set_node(plain_node("a"));
  auto there = plain_pod("there", "{cpu: 4}");
  engine.set_pod(there, "a");
  auto pod = plain_pod("p", "{cpu: 1}");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).feasible, 0u);
  engine.remove_pod(there->meta.uid);
  EXPECT_EQ(decide_all(engine, pod, default_profile()).node, "a");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).outcome, Decision::Outcome::single_feasible);
}

TEST(FitFilter, computes_all_rows_again_after_too_many_changes) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  auto pod = plain_pod("p", "{cpu: 1}"), other = plain_pod("x", "{cpu: 4}");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).feasible, 2u);
  engine.set_pod(other, "a");
  auto small = plain_pod("s", "{cpu: 1m}");
  for (int i = 0; i < 6000; ++i) engine.set_pod(small, "b");  // two changes each
  EXPECT_EQ(decide_all(engine, pod, default_profile()).node, "b");
}

TEST(Normalize, by_the_highest_and_reversed) {
  std::vector<std::int64_t> up{1, 2, 3, 4}, down{0, 1, 2}, none{0, 0};
  normalize_by_highest(up, NormalizeOrder::as_is);
  EXPECT_EQ(up, (std::vector<std::int64_t>{25, 50, 75, 100}));
  normalize_by_highest(down, NormalizeOrder::reversed);
  EXPECT_EQ(down, (std::vector<std::int64_t>{100, 50, 0}));
  normalize_by_highest(none, NormalizeOrder::as_is);
  EXPECT_EQ(none, (std::vector<std::int64_t>{0, 0}));
}

}  // namespace
}  // namespace plim::placement
