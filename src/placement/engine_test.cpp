#include "placement/engine.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using ::testing::ElementsAre;
using testing::node_of;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;
using testing::score_of;

kube::Node tainted(std::string_view name, std::string_view taints) {
  return node_of(
      fmt::format("{{metadata: {{name: {}}}, spec: {{taints: {}}}, status: {{allocatable: {{cpu: "
                  "4, memory: 8Gi, "
                  "pods: 110}}}}}}",
                  name, taints));
}

PodPointer with_spec(std::string_view more) {
  return pod_of(fmt::format(
      "{{metadata: {{name: p}}, spec: {{containers: [{{name: c, image: app}}], {}}}}}", more));
}

TEST(Decide, says_that_there_are_no_nodes) {
  Engine engine;
  auto made = decide_all(engine, plain_pod("p"), default_profile());
  EXPECT_EQ(made.outcome, Decision::Outcome::unschedulable);
  EXPECT_EQ(made.message, "no nodes available to schedule pods");
}

TEST(Decide, counts_a_pod_whose_node_is_added_later) {
  Engine engine;
  engine.set_pod(plain_pod("early", "{cpu: 4}"), "a");
  EXPECT_EQ(engine.node_count(), 0u);
  engine.set_node(plain_node("a"));
  EXPECT_EQ(decide_all(engine, plain_pod("p", "{cpu: 1}"), default_profile()).message,
            "0/1 nodes are available: 1 Insufficient cpu.");
}

TEST(Decide, counts_reasons_and_sorts_them_as_bytes) {
  Engine engine;
  for (int i = 0; i < 10; ++i) engine.set_node(plain_node(fmt::format("n{}", i)));
  engine.set_node(tainted("t1", "[{key: k, effect: NoSchedule}]"));
  engine.set_node(tainted("t2", "[{key: k, effect: NoExecute}]"));
  EXPECT_EQ(decide_all(engine, plain_pod("p", "{cpu: 8}"), default_profile()).message,
            "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s).");
}

TEST(Decide, the_first_plugin_alone_gives_the_reason) {
  Engine engine;
  engine.set_node(
      node_of("{metadata: {name: a}, spec: {unschedulable: true, taints: [{key: "
              "node.kubernetes.io/unschedulable, effect: NoSchedule}]}}"));
  EXPECT_EQ(decide_all(engine, plain_pod("p"), default_profile()).message,
            "0/1 nodes are available: 1 node(s) were unschedulable.");
}

TEST(Decide, tolerations_open_tainted_nodes) {
  Engine engine;
  engine.set_node(tainted("a", "[{key: k, value: v, effect: NoSchedule}]"));
  auto feasible = [&](std::string_view tolerations) {
    return decide_all(engine, with_spec(fmt::format("tolerations: {}", tolerations)),
                      default_profile())
        .feasible;
  };
  EXPECT_EQ(feasible("[{key: k, value: v}]"), 1u);
  EXPECT_EQ(feasible("[{key: k, operator: Exists, effect: NoSchedule}]"), 1u);
  EXPECT_EQ(feasible("[{operator: Exists}]"), 1u);
  EXPECT_EQ(feasible("[{key: k, value: w}]"), 0u);
  EXPECT_EQ(feasible("[{key: k, operator: Exists, effect: NoExecute}]"), 0u);
}

TEST(Decide, nodes_with_prefer_no_schedule_taints_score_less) {
  Engine engine;
  engine.set_node(plain_node("free"));
  engine.set_node(tainted("one", "[{key: k, effect: PreferNoSchedule}]"));
  engine.set_node(
      tainted("two", "[{key: k, effect: PreferNoSchedule}, {key: l, effect: PreferNoSchedule}]"));
  auto made = decide_all(engine, plain_pod("p"), default_profile());
  EXPECT_EQ(score_of(made, "free", PluginId::TaintToleration), 100);
  EXPECT_EQ(score_of(made, "one", PluginId::TaintToleration), 50);
  EXPECT_EQ(score_of(made, "two", PluginId::TaintToleration), 0);
  EXPECT_EQ(made.node, "free");
}

TEST(Decide, a_pod_with_a_node_name_fits_only_there) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_node(plain_node("b"));
  EXPECT_EQ(decide_all(engine, with_spec("nodeName: b"), default_profile()).node, "b");
  EXPECT_EQ(decide_all(engine, with_spec("nodeName: c"), default_profile()).message,
            "0/2 nodes are available: 2 node(s) didn't match the requested node name.");
}

PodPointer with_port(std::string_view port) {
  return pod_of(
      fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c, image: app, "
                  "ports: [{}]}}]}}}}",
                  port));
}

TEST(Decide, host_ports_clash_by_protocol_port_and_address) {
  Engine engine;
  engine.set_node(plain_node("a"));
  engine.set_pod(with_port("{hostPort: 80, hostIP: 10.0.0.1}"), "a");
  auto feasible = [&](std::string_view port) {
    return decide_all(engine, with_port(port), default_profile()).feasible;
  };
  EXPECT_EQ(feasible("{hostPort: 80}"), 0u);
  EXPECT_EQ(feasible("{hostPort: 80, hostIP: 10.0.0.1, protocol: TCP}"), 0u);
  EXPECT_EQ(feasible("{hostPort: 80, hostIP: 10.0.0.2}"), 1u);
  EXPECT_EQ(feasible("{hostPort: 80, protocol: UDP}"), 1u);
  EXPECT_EQ(feasible("{containerPort: 80}"), 1u);
  EXPECT_EQ(
      decide_all(engine, with_port("{hostPort: 80}"), default_profile()).message,
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.");
}

TEST(Decide, draws_among_equals_or_takes_the_first_name) {
  Engine engine;
  for (auto name : {"c", "a", "b"}) engine.set_node(plain_node(name));
  Profile profile = default_profile();
  profile.locality.tie_break = TieBreak::Random;
  std::set<std::string> drawn;
  for (std::uint64_t draw = 0; draw < 6; ++draw) {
    DecideOptions options;
    options.draw = draw;
    options.rows = 2;
    auto made = engine.decide(*plain_pod("p"), profile, options);
    EXPECT_EQ(made.tie_size, 3u);
    ASSERT_EQ(made.rows.size(), 2u);
    EXPECT_EQ(made.rows[0].node, made.node);
    EXPECT_NE(made.rows[1].node, made.node);
    drawn.insert(made.node);
  }
  EXPECT_EQ(drawn.size(), 3u);
  profile.locality.tie_break = TieBreak::First;
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).node, "a");
}

TEST(Decide, lists_equal_nodes_by_name_after_nodes_were_replaced) {
  Engine engine;
  for (auto name : {"c", "a", "d"}) engine.set_node(plain_node(name));
  Profile profile = default_profile();
  profile.locality.tie_break = TieBreak::First;
  auto names = [&] {
    std::string out;
    for (const ScoredNode& row : decide_all(engine, plain_pod("p"), profile).rows) out += row.node;
    return out;
  };
  EXPECT_EQ(names(), "acd");
  engine.remove_node("a");
  engine.set_node(plain_node("e"));  // reuses the row
  EXPECT_EQ(names(), "cde");
  engine.set_node(plain_node("b"));
  EXPECT_EQ(names(), "bcde");
}

TEST(Decide, checks_all_nodes_unless_a_percentage_is_set) {
  Engine engine;
  for (int i = 0; i < 5000; ++i) engine.set_node(plain_node(fmt::format("n{}", i)));
  Profile profile = default_profile();
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible, 5000u);
  profile.percentage_of_nodes = 100;
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible, 5000u);
  profile.percentage_of_nodes = 30;
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible, 1500u);
  auto again = decide_all(engine, plain_pod("p"), profile);
  EXPECT_EQ(again.looked_at, 1500u);
  EXPECT_EQ(again.feasible_nodes.front(), 1500u);
  profile.percentage_of_nodes = 1;  // never fewer than a hundred
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible, 100u);
}

TEST(Decide, a_share_of_the_nodes_comes_from_all_zones) {
  Engine engine;
  auto add = [&](int number, std::string_view zone) {
    engine.set_node(plain_node(fmt::format("n{:03}", number),
                               fmt::format("{{topology.kubernetes.io/zone: {}}}", zone)));
  };
  for (int i = 0; i < 200; ++i) add(i, i < 160 ? "large" : "small");
  Profile profile = default_profile();
  profile.percentage_of_nodes = 50;
  auto made = decide_all(engine, plain_pod("p"), profile);
  EXPECT_EQ(made.feasible, 100u);
  auto small = std::ranges::count_if(made.feasible_nodes, [](NodeIndex row) { return row >= 160; });
  EXPECT_EQ(small, 40);  // one each in turn, until one zone has no more
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible_nodes.front(), 60u);
  add(200, "new");
  EXPECT_EQ(decide_all(engine, plain_pod("p"), profile).feasible_nodes.back(), 200u);
}

// A search for a share of the nodes gives the same as checking them one by one: the first nodes
// that fit after the end of the last search, and why the nodes between them do not fit.
TEST(Decide, a_share_of_the_nodes_is_the_first_that_fit) {
  Engine engine, all;
  SeededRandom random(7);
  for (int i = 0; i < 700; ++i) {
    const auto node = testing::node_of(fmt::format(
        "{{metadata: {{name: n{0}, labels: {{topology.kubernetes.io/zone: z{1}}}}}, spec: "
        "{{unschedulable: {2}}}, status: {{allocatable: {{cpu: {3}, memory: 32Gi, pods: 110}}}}}}",
        i, random.below(3), random.below(4) == 0, random.below(3)));
    engine.set_node(node);
    all.set_node(node);
  }
  Profile profile = default_profile(), whole = profile;
  SampleOrder sample;
  std::size_t start = 0;
  for (std::int64_t percentage : {15, 20, 30, 50, 70, 90, 15}) {
    profile.percentage_of_nodes = percentage;
    const auto pod = plain_pod("p", "{cpu: 1500m}");
    const Decision expected = decide_all(all, pod, whole), made = decide_all(engine, pod, profile);
    const auto& order = sample.get(all.cluster().table());
    const auto enough =
        std::max<std::size_t>(100, 700 * static_cast<std::size_t>(percentage) / 100);
    std::vector<NodeIndex> fit, refused;
    std::size_t looked_at = expected.feasible > enough ? 0 : 700;
    auto look = [&](std::size_t at) {
      const NodeIndex row = order[(start + at) % 700];
      const bool fits = std::ranges::binary_search(expected.feasible_nodes, row);
      (fits ? fit : refused).push_back(row);
    };
    if (looked_at == 700)
      for (std::size_t at = 0; at < 700; ++at) look(at);
    else
      while (fit.size() < enough) look(looked_at++);
    std::ranges::sort(fit);
    std::ranges::sort(refused);
    std::vector<NodeIndex> rejected;
    for (const Rejection& one : made.rejections)
      rejected.insert(rejected.end(), one.nodes.begin(), one.nodes.end());
    std::ranges::sort(rejected);
    EXPECT_EQ(made.looked_at, looked_at);
    EXPECT_EQ(made.feasible_nodes, fit);
    EXPECT_EQ(rejected, refused);
    start = (start + looked_at) % 700;
  }
}

TEST(Decide, yields_to_pods_nominated_for_a_node) {
  Engine engine;
  engine.set_node(plain_node("a"));
  auto nominated = pod_of(
      "{metadata: {name: big}, spec: {priority: 10, containers: [{name: c, "
      "resources: {requests: {cpu: 4}}}]}}");
  engine.nominate(nominated, "a");
  auto pod = plain_pod("p", "{cpu: 1}");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).message,
            "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(decide_all(engine, nominated, default_profile()).node, "a");
  auto urgent = pod_of("{metadata: {name: u}, spec: {priority: 11, containers: [{name: c}]}}");
  EXPECT_EQ(decide_all(engine, urgent, default_profile()).node, "a");
  engine.forget_nomination(nominated->meta.uid);
  EXPECT_EQ(decide_all(engine, pod, default_profile()).node, "a");
}

TEST(Decide, uses_the_answers_of_extenders) {
  Engine engine;
  for (auto name : {"a", "b", "c"}) engine.set_node(plain_node(name));
  ExtenderAnswers answers{.passed = {"b", "c"},
                          .rejections = {{"a", RejectCode::unschedulable, "too hot"}},
                          .scores = {{"http://x", 3, {{"c", 7}, {"a", 10}, {"gone", 1}}}}};
  DecideOptions options;
  options.rows = DecideOptions::kAllRows;
  options.extenders = &answers;
  options.any_extender = true;
  auto made = engine.decide(*plain_pod("p"), default_profile(), options);
  EXPECT_EQ(made.node, "c");
  ASSERT_EQ(made.rows.size(), 2U);
  EXPECT_EQ(made.rows[0].extenders[0].raw, 7);
  EXPECT_EQ(made.rows[0].extenders[0].weighted, 210);
  EXPECT_EQ(made.rows[0].total, made.rows[1].total + 210);
  answers = {.passed = {},
             .rejections = {{"a", RejectCode::unschedulable, "too hot"},
                            {"b", RejectCode::unresolvable, "too hot"},
                            {"c", RejectCode::unresolvable, "too cold"}},
             .scores = {}};
  made = engine.decide(*plain_pod("p"), default_profile(), options);
  EXPECT_EQ(made.message, "0/3 nodes are available: 1 too cold, 2 too hot.");
  EXPECT_TRUE(made.rejected_by_extender);
}

TEST(Decide, chooses_no_node_that_extenders_were_not_asked_about) {
  Engine engine;
  for (auto name : {"a", "b"}) engine.set_node(plain_node(name));
  ExtenderAnswers answers{.passed = {"b"}, .rejections = {}, .scores = {}};
  DecideOptions options;
  options.extenders = &answers;
  auto made = engine.decide(*plain_pod("p"), default_profile(), options);
  EXPECT_EQ(made.node, "b");
  EXPECT_EQ(made.unasked, 1U);
  engine.remove_node("b");  // before the extender has answered
  made = engine.decide(*plain_pod("p"), default_profile(), options);
  EXPECT_EQ(made.outcome, Decision::Outcome::unschedulable);
  EXPECT_EQ(made.unasked, 1U);
}

TEST(Decide, filters_without_scoring_if_extenders_are_asked_next) {
  Engine engine;
  for (auto name : {"a", "b", "c"}) engine.set_node(plain_node(name));
  auto pod = pod_of(
      "{metadata: {name: p}, spec: {containers: [{name: c}]}, status: {nominatedNodeName: b}}");
  DecideOptions options;
  options.only_filter = true;
  auto made = engine.decide(*pod, default_profile(), options);
  EXPECT_TRUE(made.by_nomination);
  EXPECT_EQ(made.feasible_nodes.size(), 1U);
  EXPECT_EQ(made.node, "");
  options.skip_nominated = true;
  made = engine.decide(*pod, default_profile(), options);
  EXPECT_FALSE(made.by_nomination);
  EXPECT_EQ(made.feasible_nodes.size(), 3U);
}

TEST(Decide, a_node_that_an_extender_left_out_has_no_reason) {
  Engine engine;
  engine.set_node(plain_node("a"));
  ExtenderAnswers answers{
      .passed = {}, .rejections = {{"a", RejectCode::unresolvable, ""}}, .scores = {}};
  DecideOptions options;
  options.extenders = &answers;
  auto made = engine.decide(*plain_pod("p"), default_profile(), options);
  EXPECT_EQ(made.message, "0/1 nodes are available:");
  EXPECT_TRUE(made.rejected_by_extender);
}

}  // namespace
}  // namespace plim::placement
