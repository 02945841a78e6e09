#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::plain_node;
using testing::plain_pod;
using testing::pod_of;
using testing::raw_score;
using testing::score_of;

constexpr auto kSpread = PluginId::PodTopologySpread;

kube::Node zoned(std::string_view name, std::string_view zone) {
  return plain_node(
      name,
      fmt::format("{{kubernetes.io/hostname: {}, topology.kubernetes.io/zone: {}}}", name, zone));
}

Engine three_hosts_in_two_zones() {
  Engine out;
  out.set_node(zoned("n1", "a"));
  out.set_node(zoned("n2", "b"));
  out.set_node(zoned("n3", "b"));
  out.set_selector_owner({"Service", "default", "web", *kube::LabelSelector::parse("app=web")});
  return out;
}

void web_pod_on(Engine& engine, std::string_view node) {
  engine.set_pod(plain_pod("w", "{}", "{app: web}"), node);
}

PodPointer spread_pod(std::string_view constraints, std::string_view more = "priority: 0") {
  return pod_of(fmt::format(
      "{{metadata: {{name: p, labels: {{app: web}}}}, spec: {{containers: [{{name: c}}], "
      "topologySpreadConstraints: {}, {}}}}}",
      constraints, more));
}

constexpr std::string_view kByZone =
    "[{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app: web}}}]";

TEST(SpreadFilter, defaults_count_the_nodes_that_they_say) {
  auto engine = three_hosts_in_two_zones();
  engine.set_node(testing::node_of(
      "{metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}, spec: {taints: [{key: k, "
      "effect: NoSchedule}]}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}}"));
  web_pod_on(engine, "n2");
  Profile profile = default_profile();
  SpreadDefault by_zone{.max_skew = 1, .topology_key = "topology.kubernetes.io/zone", .hard = true};
  const auto fits = [&] {
    profile.spread = {.system_defaults = false, .defaults = {by_zone}};
    return decide_all(engine, plain_pod("p", "{}", "{app: web}"), profile).feasible;
  };
  EXPECT_EQ(fits(), 0U);  // zone a has fewer pods, but the pod may not go there
  by_zone.honor_taints = true;
  EXPECT_EQ(fits(), 2U);
  by_zone.min_domains = 2;
  EXPECT_EQ(fits(), 0U);
}

TEST(SpreadScore, system_defaults_spread_the_pods_of_a_service) {
  auto engine = three_hosts_in_two_zones();
  web_pod_on(engine, "n1");
  web_pod_on(engine, "n1");
  web_pod_on(engine, "n3");
  auto made = decide_all(engine, plain_pod("p", "{}", "{app: web}"), default_profile());
  EXPECT_EQ(raw_score(made, "n1", kSpread), 12);
  EXPECT_EQ(raw_score(made, "n2", kSpread), 7);
  EXPECT_EQ(raw_score(made, "n3", kSpread), 9);
  EXPECT_EQ(score_of(made, "n1", kSpread), 58);
  EXPECT_EQ(score_of(made, "n2", kSpread), 100);
  EXPECT_EQ(score_of(made, "n3", kSpread), 83);
}

TEST(SpreadScore, without_matching_pods_all_nodes_score_the_same) {
  auto engine = three_hosts_in_two_zones();
  auto made = decide_all(engine, plain_pod("p", "{}", "{app: web}"), default_profile());
  for (auto name : {"n1", "n2", "n3"}) {
    EXPECT_EQ(raw_score(made, name, kSpread), 6);
    EXPECT_EQ(score_of(made, name, kSpread), 100);
  }
}

TEST(SpreadScore, bare_pods_are_not_spread) {
  auto engine = three_hosts_in_two_zones();
  auto made = decide_all(engine, plain_pod("p", "{}", "{app: other}"), default_profile());
  EXPECT_EQ(raw_score(made, "n1", kSpread), -1);
}

TEST(SpreadScore, nodes_without_a_key_of_the_pods_own_constraint_get_nothing) {
  auto engine = three_hosts_in_two_zones();
  engine.set_node(plain_node("bare"));
  web_pod_on(engine, "n1");
  auto made = decide_all(
      engine,
      spread_pod("[{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
                 "ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]"),
      default_profile());
  EXPECT_EQ(score_of(made, "bare", kSpread), 0);
  EXPECT_EQ(score_of(made, "n1", kSpread), 0);
  EXPECT_EQ(score_of(made, "n2", kSpread), 100);
}

TEST(SpreadFilter, rejects_nodes_that_would_exceed_the_skew) {
  auto engine = three_hosts_in_two_zones();
  web_pod_on(engine, "n1");
  auto made = decide_all(engine, spread_pod(kByZone), default_profile());
  EXPECT_EQ(made.feasible, 2u);
  engine.remove_node("n2");
  engine.remove_node("n3");
  engine.set_node(plain_node("bare"));
  web_pod_on(engine, "n1");
  engine.set_node(zoned("n4", "c"));
  engine.set_pod(plain_pod("x", "{cpu: 4}"), "n4");
  made = decide_all(
      engine,
      pod_of(fmt::format("{{metadata: {{name: p, labels: {{app: web}}}}, spec: {{containers: "
                         "[{{name: c, resources: {{requests: {{cpu: 1}}}}}}], "
                         "topologySpreadConstraints: {}}}}}",
                         kByZone)),
      default_profile());
  EXPECT_EQ(
      made.message,
      "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread "
      "constraints, 1 node(s) didn't match pod topology spread constraints (missing required "
      "label).");
}

TEST(SpreadFilter, too_few_domains_make_the_minimum_zero) {
  auto engine = three_hosts_in_two_zones();
  for (auto name : {"n1", "n2"}) web_pod_on(engine, name);
  auto with = [](int domains) {
    return spread_pod(
        fmt::format("[{{maxSkew: 1, minDomains: {}, topologyKey: topology.kubernetes.io/zone, "
                    "whenUnsatisfiable: "
                    "DoNotSchedule, labelSelector: {{matchLabels: {{app: web}}}}}}]",
                    domains));
  };
  EXPECT_EQ(decide_all(engine, with(2), default_profile()).feasible, 3u);
  EXPECT_EQ(decide_all(engine, with(3), default_profile()).feasible, 0u);
}

TEST(SpreadFilter, nodes_the_pod_may_not_run_on_do_not_count_by_default) {
  auto engine = three_hosts_in_two_zones();
  for (int i = 0; i < 3; ++i) web_pod_on(engine, "n1");
  // Zone b is empty but out of reach: it must not count as the minimum.
  auto only_a = "nodeSelector: {topology.kubernetes.io/zone: a}";
  EXPECT_EQ(decide_all(engine, spread_pod(kByZone, only_a), default_profile()).feasible, 1u);
  auto ignoring =
      "[{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, "
      "nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: web}}}]";
  EXPECT_EQ(decide_all(engine, spread_pod(ignoring, only_a), default_profile()).feasible, 0u);
}

TEST(SpreadFilter, other_namespaces_and_dying_pods_do_not_count) {
  auto engine = three_hosts_in_two_zones();
  engine.set_pod(pod_of("{metadata: {name: x, namespace: other, labels: {app: web}}}"), "n1");
  engine.set_pod(pod_of("{metadata: {name: dying, labels: {app: web}, deletionTimestamp: "
                        "'2026-01-01T00:00:00Z'}}"),
                 "n1");
  EXPECT_EQ(decide_all(engine, spread_pod(kByZone), default_profile()).feasible, 3u);
}

TEST(SpreadFilter, match_label_keys_separate_revisions) {
  auto engine = three_hosts_in_two_zones();
  engine.set_pod(plain_pod("old", "{}", "{app: web, rev: '1'}"), "n1");
  auto pod = pod_of(
      "{metadata: {name: p, labels: {app: web, rev: '2'}}, spec: {containers: [{name: c}], "
      "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
      "whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [rev], labelSelector: {matchLabels: {app: "
      "web}}}]}}");
  EXPECT_EQ(decide_all(engine, pod, default_profile()).feasible, 3u);
}

}  // namespace
}  // namespace plim::placement
