// Which changes of nodes may help pods that a plugin has rejected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"
#include "sched/queue_hints.hpp"

namespace plim::sched {
namespace {

using placement::testing::node_of;
using placement::testing::pod_of;
using NodePointer = std::shared_ptr<const kube::Node>;

// `more` belongs to the spec of the node.
NodePointer hint_node(std::string_view labels, std::string_view amounts = "{cpu: 4, pods: 10}",
                      std::string_view more = "") {
  return std::make_shared<const kube::Node>(node_of(fmt::format(
      "{{metadata: {{name: here, labels: {}}}, spec: {{{}}}, status: {{allocatable: {}}}}}", labels,
      more, amounts)));
}

PodPointer hint_pod(std::string_view spec, std::string_view requests = "{}") {
  return pod_of(
      fmt::format("{{metadata: {{name: p, labels: {{app: web}}}}, spec: {{{} containers: "
                  "[{{name: c, resources: {{requests: {}}}}}]}}}}",
                  spec, requests));
}

class NodeHints : public ::testing::Test {
 protected:
  bool added(PluginId plugin, const NodePointer& node, const PodPointer& pod) {
    return may_help(plugin, {.kind = EventKind::NodeAdd, .node = node}, *pod, cluster_, profile_);
  }

  bool changed(PluginId plugin, EventKind kind, const NodePointer& before, const NodePointer& node,
               const PodPointer& pod) {
    return may_help(plugin, {.kind = kind, .node_before = before, .node = node}, *pod, cluster_,
                    profile_);
  }

  ClusterTables cluster_;
  Profile profile_ = placement::default_profile();
};

TEST_F(NodeHints, fit_needs_room_on_the_empty_node_and_more_of_a_resource) {
  constexpr auto kPlugin = PluginId::NodeResourcesFit;
  constexpr auto kKind = EventKind::NodeAllocatable;
  const auto pod = hint_pod("", "{cpu: 2, example.com/gpu: 1}");
  const auto node = [](std::string_view amounts) { return hint_node("{}", amounts); };
  const auto roomy = node("{cpu: 4, memory: 4Gi, example.com/gpu: 1, pods: 10}");
  EXPECT_TRUE(added(kPlugin, roomy, pod));
  EXPECT_FALSE(added(kPlugin, node("{cpu: 1, example.com/gpu: 1, pods: 10}"), pod));
  EXPECT_FALSE(added(kPlugin, node("{cpu: 4, pods: 10}"), pod)) << "no device";
  EXPECT_FALSE(added(kPlugin, node("{cpu: 4, example.com/gpu: 1, pods: 0}"), pod));
  const auto before = node("{cpu: 3, memory: 4Gi, example.com/gpu: 1, pods: 10}");
  EXPECT_TRUE(changed(kPlugin, kKind, before, roomy, pod));
  EXPECT_FALSE(changed(kPlugin, kKind, roomy, before, pod)) << "less of it";
  EXPECT_FALSE(changed(kPlugin, kKind, before,
                       node("{cpu: 3, memory: 8Gi, example.com/gpu: 1, pods: 10}"), pod))
      << "more of what it does not want";
  EXPECT_TRUE(changed(kPlugin, kKind, before,
                      node("{cpu: 3, memory: 4Gi, example.com/gpu: 1, pods: 11}"), pod));
  EXPECT_FALSE(changed(kPlugin, kKind, node("{cpu: 1, example.com/gpu: 1, pods: 10}"),
                       node("{cpu: 1500m, example.com/gpu: 1, pods: 10}"), pod))
      << "still too small when empty";
  profile_.fit.ignored_groups = {"example.com"};
  EXPECT_TRUE(added(kPlugin, node("{cpu: 4, pods: 10}"), pod));
}

TEST_F(NodeHints, taints_and_cordons_help_when_they_go) {
  const auto pod = hint_pod("tolerations: [{key: a, operator: Exists}],");
  const auto tainted = [](std::string_view taints) {
    return hint_node("{}", "{cpu: 1}", fmt::format("taints: [{}]", taints));
  };
  constexpr auto kTaints = PluginId::TaintToleration;
  constexpr auto kKind = EventKind::NodeTaint;
  const auto hard = tainted("{key: b, effect: NoSchedule}");
  const auto mine = tainted("{key: a, effect: NoExecute}, {key: c, effect: PreferNoSchedule}");
  EXPECT_TRUE(added(kTaints, mine, pod));
  EXPECT_FALSE(added(kTaints, hard, pod));
  EXPECT_TRUE(changed(kTaints, kKind, hard, mine, pod));
  EXPECT_FALSE(changed(kTaints, kKind, mine, hard, pod));
  EXPECT_FALSE(changed(kTaints, kKind, mine, hint_node("{}"), pod)) << "it was no obstacle";

  constexpr auto kCordon = PluginId::NodeUnschedulable;
  const auto closed = hint_node("{}", "{cpu: 1}", "unschedulable: true");
  const auto open = hint_node("{}", "{cpu: 1}");
  EXPECT_TRUE(added(kCordon, open, pod));
  EXPECT_FALSE(added(kCordon, closed, pod));
  EXPECT_TRUE(changed(kCordon, kKind, closed, open, pod));
  EXPECT_FALSE(changed(kCordon, kKind, open, closed, pod));
  EXPECT_FALSE(changed(kCordon, kKind, open, open, pod)) << "its taints have changed, not this";
}

TEST_F(NodeHints, labels_help_if_the_node_begins_to_match) {
  constexpr auto kPlugin = PluginId::NodeAffinity;
  constexpr auto kKind = EventKind::NodeLabel;
  const auto pod = hint_pod(
      "nodeSelector: {disk: ssd}, affinity: {nodeAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
      "[{key: cores, operator: Gt, values: ['4']}]}]}}},");
  const auto good = hint_node("{disk: ssd, cores: '8'}"), half = hint_node("{disk: ssd}");
  EXPECT_TRUE(added(kPlugin, good, pod));
  EXPECT_FALSE(added(kPlugin, half, pod));
  EXPECT_TRUE(changed(kPlugin, kKind, half, good, pod));
  EXPECT_FALSE(changed(kPlugin, kKind, good, half, pod));
  EXPECT_FALSE(changed(kPlugin, kKind, good, hint_node("{disk: ssd, cores: '16'}"), pod));
  const auto named = hint_pod(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
      "[here]}]}]}}},");
  EXPECT_TRUE(added(kPlugin, hint_node("{}"), named));
  profile_.node_affinity.added = *parse_json(
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":
         [{"key":"pool","operator":"In","values":["x"]}]}]}})");
  EXPECT_FALSE(added(kPlugin, good, pod));
  EXPECT_TRUE(changed(kPlugin, kKind, good, hint_node("{disk: ssd, cores: '8', pool: x}"), pod));
}

TEST_F(NodeHints, spread_compares_its_topology_keys) {
  constexpr auto kPlugin = PluginId::PodTopologySpread;
  const auto spread = [](std::string_view more) {
    return hint_pod(fmt::format(
        "nodeSelector: {{disk: ssd}}, topologySpreadConstraints: [{{maxSkew: 1, topologyKey: zone, "
        "whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: web}}}}{}}}],",
        more));
  };
  const auto pod = spread("");
  const auto a = hint_node("{zone: a, disk: ssd}"), b = hint_node("{zone: b, disk: ssd}");
  const auto none = hint_node("{disk: ssd}");
  EXPECT_TRUE(added(kPlugin, a, pod));
  EXPECT_FALSE(added(kPlugin, none, pod));
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeLabel, a, b, pod));
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeLabel, none, a, pod));
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeLabel, a, none, pod));
  EXPECT_FALSE(
      changed(kPlugin, EventKind::NodeLabel, a, hint_node("{zone: a, disk: ssd, other: x}"), pod));
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeLabel, a, hint_node("{zone: a, disk: hdd}"), pod))
      << "its zone may be no domain any more";
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeDelete, a, nullptr, pod));
  EXPECT_FALSE(changed(kPlugin, EventKind::NodeDelete, none, nullptr, pod));
  EXPECT_FALSE(changed(kPlugin, EventKind::NodeTaint, a, a, pod));
  EXPECT_TRUE(changed(kPlugin, EventKind::NodeTaint, a, a, spread(", nodeTaintsPolicy: Honor")));
}

TEST_F(NodeHints, inter_pod_affinity_compares_its_topology_keys) {
  constexpr auto kPlugin = PluginId::InterPodAffinity;
  constexpr auto kKind = EventKind::NodeLabel;
  const auto with = [](std::string_view kind) {
    return hint_pod(fmt::format(
        "affinity: {{{}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: zone, "
        "labelSelector: {{matchLabels: {{app: db}}}}}}]}}}},",
        kind));
  };
  const auto a = hint_node("{zone: a}"), b = hint_node("{zone: b}"), none = hint_node("{x: v}");
  const auto near = with("podAffinity"), apart = with("podAntiAffinity");
  EXPECT_TRUE(added(kPlugin, a, near));
  EXPECT_FALSE(added(kPlugin, none, near));
  EXPECT_TRUE(added(kPlugin, none, apart));
  for (const auto& pod : {near, apart}) {
    EXPECT_TRUE(changed(kPlugin, kKind, a, b, pod));
    EXPECT_TRUE(changed(kPlugin, kKind, a, none, pod));
    EXPECT_FALSE(changed(kPlugin, kKind, a, hint_node("{zone: a, x: v}"), pod));
  }
  // A pod without rules is rejected by the anti-affinity of existing pods.
  const auto plain = hint_pod("");
  EXPECT_FALSE(changed(kPlugin, kKind, a, b, plain));
  cluster_.set_node(*a);
  cluster_.set_pod(pod_of("{metadata: {name: shy}, spec: {containers: [{name: c}], affinity: "
                          "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                          "[{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}}}"),
                   "here");
  EXPECT_TRUE(changed(kPlugin, kKind, a, b, plain));
  EXPECT_FALSE(changed(kPlugin, kKind, a, hint_node("{zone: a, x: v}"), plain));
}

}  // namespace
}  // namespace plim::sched
