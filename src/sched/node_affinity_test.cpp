#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "sched/engine.hpp"
#include "sched/testing/objects.hpp"

namespace plim::sched {
namespace {

using testing::decide_all;
using testing::plain_node;
using testing::pod_of;
using testing::raw_score;
using testing::score_of;

constexpr auto kAffinity = PluginId::NodeAffinity;

PodPointer choosy(std::string_view spec) {
  return pod_of(
      fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c}}], {}}}}}", spec));
}

PodPointer requiring(std::string_view terms) {
  return choosy(
      fmt::format("affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
                  "{{nodeSelectorTerms: {}}}}}}}",
                  terms));
}

Engine three_nodes() {
  Engine out;
  out.set_node(plain_node("a", "{disk: ssd, cores: '4'}"));
  out.set_node(plain_node("b", "{disk: hdd, cores: '16'}"));
  out.set_node(plain_node("c"));
  return out;
}

std::string feasible_of(Engine& engine, const PodPointer& pod) {
  auto made = decide_all(engine, pod, default_profile());
  std::string out;
  for (NodeIndex row : made.feasible_nodes) out += engine.node_name(row);
  return out;
}

TEST(NodeAffinity, selects_by_labels) {
  auto engine = three_nodes();
  EXPECT_EQ(feasible_of(engine, choosy("nodeSelector: {disk: ssd}")), "a");
  EXPECT_EQ(decide_all(engine, choosy("nodeSelector: {disk: tape}"), default_profile()).message,
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.");
}

TEST(NodeAffinity, knows_every_operator) {
  auto engine = three_nodes();
  auto one = [&](std::string_view expression) {
    return feasible_of(engine, requiring(fmt::format("[{{matchExpressions: [{}]}}]", expression)));
  };
  EXPECT_EQ(one("{key: disk, operator: In, values: [ssd, hdd]}"), "ab");
  EXPECT_EQ(one("{key: disk, operator: NotIn, values: [ssd]}"), "bc");
  EXPECT_EQ(one("{key: disk, operator: Exists}"), "ab");
  EXPECT_EQ(one("{key: disk, operator: DoesNotExist}"), "c");
  EXPECT_EQ(one("{key: cores, operator: Gt, values: ['4']}"), "b");
  EXPECT_EQ(one("{key: cores, operator: Lt, values: ['5']}"), "a");
}

TEST(NodeAffinity, terms_are_alternatives_and_an_empty_one_matches_nothing) {
  auto engine = three_nodes();
  EXPECT_EQ(feasible_of(engine, requiring("[{}]")), "");
  EXPECT_EQ(feasible_of(engine, requiring("[{}, {matchExpressions: [{key: disk, operator: "
                                          "DoesNotExist}]}]")),
            "c");
  EXPECT_EQ(
      feasible_of(engine, requiring("[{matchExpressions: [{key: disk, operator: Sideways}]}]")),
      "");
}

TEST(NodeAffinity, names_of_nodes_narrow_the_search) {
  auto engine = three_nodes();
  auto named = [](std::string_view name) {
    return fmt::format("{{matchFields: [{{key: metadata.name, operator: In, values: [{}]}}]}}",
                       name);
  };
  EXPECT_EQ(feasible_of(engine, requiring(fmt::format("[{}, {}]", named("a"), named("c")))), "ac");
  EXPECT_EQ(
      decide_all(engine, requiring(fmt::format("[{}]", named("gone"))), default_profile()).message,
      "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].");
  auto torn = requiring(
      "[{matchFields: [{key: metadata.name, operator: In, values: [a]}, "
      "{key: metadata.name, operator: In, values: [b]}]}]");
  auto made = decide_all(engine, torn, default_profile());
  EXPECT_EQ(made.message, "0/3 nodes are available: pod affinity terms conflict.");
  EXPECT_EQ(made.pre_filter_message, "pod affinity terms conflict");
  EXPECT_EQ(made.pre_filter_code, RejectCode::unresolvable);
}

TEST(NodeAffinity, prefers_by_the_sum_of_weights) {
  auto engine = three_nodes();
  auto pod = choosy(
      "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["
      "{weight: 30, preference: {matchExpressions: [{key: disk, operator: Exists}]}},"
      "{weight: 10, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}},"
      "{weight: 50, preference: {}}]}}");
  auto made = decide_all(engine, pod, default_profile());
  EXPECT_EQ(raw_score(made, "a", kAffinity), 40);
  EXPECT_EQ(score_of(made, "a", kAffinity), 100);
  EXPECT_EQ(score_of(made, "b", kAffinity), 75);
  EXPECT_EQ(score_of(made, "c", kAffinity), 0);
  EXPECT_EQ(raw_score(decide_all(engine, choosy("priority: 0"), default_profile()), "a", kAffinity),
            -1);
}

TEST(NodeAffinity, the_profile_adds_its_own) {
  auto engine = three_nodes();
  Profile profile = default_profile();
  profile.node_affinity.added = *parse_yaml(
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
      "[{key: disk, operator: In, values: [hdd]}]}]}}");
  auto made = decide_all(engine, choosy("nodeSelector: {disk: ssd}"), profile);
  EXPECT_EQ(
      made.message,
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) "
      "didn't match scheduler-enforced node affinity.");
}

TEST(NodeAffinity, a_changed_label_is_seen_at_once) {
  auto engine = three_nodes();
  auto pod = choosy("nodeSelector: {disk: ssd}");
  EXPECT_EQ(feasible_of(engine, pod), "a");
  engine.set_node(plain_node("c", "{disk: ssd}"));
  EXPECT_EQ(feasible_of(engine, pod), "ac");
  engine.remove_node("a");
  EXPECT_EQ(feasible_of(engine, pod), "c");
}

}  // namespace
}  // namespace plim::sched
