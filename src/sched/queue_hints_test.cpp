#include "sched/queue_hints.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"

namespace plim::sched {
namespace {

using placement::testing::pod_of;

// `more` belongs to the spec.
PodPointer hinted(std::string_view app, std::string_view more = "",
                  std::string_view ns = "default") {
  return pod_of(
      fmt::format("{{metadata: {{name: p, namespace: {}, labels: {{app: {}}}}}, spec: {{{} "
                  "containers: [{{name: c}}]}}}}",
                  ns, app, more));
}

std::string near_or_apart(std::string_view kind, std::string_view app) {
  return fmt::format(
      "affinity: {{{}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: host, "
      "labelSelector: {{matchLabels: {{app: {}}}}}}}]}}}},",
      kind, app);
}

class Hints : public ::testing::Test {
 protected:
  bool helps(PluginId plugin, EventKind kind, const PodPointer& other, const PodPointer& waiting,
             const PodPointer& before = nullptr) {
    return may_help(plugin, {.kind = kind, .pod_before = before, .pod = other}, *waiting, cluster_,
                    placement::default_profile());
  }

  ClusterTables cluster_;
};

TEST_F(Hints, a_new_pod_helps_a_pod_with_affinity_to_it) {
  auto waiting = hinted("web", near_or_apart("podAffinity", "db"));
  constexpr auto kPlugin = PluginId::InterPodAffinity;
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodAdd, hinted("db"), waiting));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodAdd, hinted("web"), waiting));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodAdd, hinted("db", "", "other"), waiting));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("db"), waiting));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("db"), waiting, hinted("x")));
}

TEST_F(Hints, a_deleted_pod_helps_a_pod_with_anti_affinity_to_it) {
  auto waiting = hinted("web", near_or_apart("podAntiAffinity", "db"));
  constexpr auto kPlugin = PluginId::InterPodAffinity;
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("db"), waiting));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("web"), waiting));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("x"), waiting, hinted("db")));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("x"), waiting, hinted("z")));
  // A pod with anti-affinity to this one.
  auto shy = hinted("x", near_or_apart("podAntiAffinity", "web"));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, shy, waiting));
}

TEST_F(Hints, the_last_deleted_pod_of_a_group_helps_the_first_new_one) {
  auto waiting = hinted("web", near_or_apart("podAffinity", "web"));
  constexpr auto kPlugin = PluginId::InterPodAffinity;
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("web"), waiting));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("db"), waiting));
}

TEST_F(Hints, labels_that_no_term_matches_do_not_help) {
  auto near = hinted("web", near_or_apart("podAffinity", "db"));
  constexpr auto kPlugin = PluginId::InterPodAffinity;
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("db"), near, hinted("db")));
  auto apart = hinted("web", near_or_apart("podAntiAffinity", "db"));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("db"), apart, hinted("db")));
}

TEST_F(Hints, a_pod_that_requests_less_of_a_resource_helps) {
  auto asking = [](std::string_view requests) {
    return pod_of(
        fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c, resources: "
                    "{{requests: {}}}}}]}}}}",
                    requests));
  };
  constexpr auto kPlugin = PluginId::NodeResourcesFit;
  constexpr auto kLess = EventKind::AssignedPodScaleDown;
  auto waiting = asking("{cpu: 1}"), large = asking("{cpu: 2, memory: 2Gi}");
  EXPECT_TRUE(helps(kPlugin, kLess, asking("{cpu: 1, memory: 2Gi}"), waiting, large));
  EXPECT_FALSE(helps(kPlugin, kLess, asking("{cpu: 2, memory: 1Gi}"), waiting, large));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, asking("{}"), waiting));
}

TEST_F(Hints, a_resize_counts_when_the_node_has_done_it) {
  auto resized = [](std::string_view wanted, std::string_view allocated) {
    return pod_of(fmt::format(
        "{{metadata: {{name: p}}, spec: {{nodeName: here, containers: [{{name: c, resources: "
        "{{requests: {{cpu: {}}}}}}}]}}, status: {{containerStatuses: [{{name: c, "
        "allocatedResources: {{cpu: {}}}, resources: {{requests: {{cpu: {}}}}}}}]}}}}",
        wanted, allocated, allocated));
  };
  auto before = resized("2", "2"), asked = resized("1", "2"), done = resized("1", "1");
  EXPECT_TRUE(changes_of_assigned(*before, *asked).empty()) << "nothing is free yet";
  EXPECT_EQ(changes_of_assigned(*asked, *done), std::vector{EventKind::AssignedPodScaleDown});
  EXPECT_TRUE(changes_of_assigned(*done, *before).empty());
}

TEST_F(Hints, deleted_pods_free_their_disks_and_claims) {
  auto with = [](std::string_view volume, std::string_view ns = "default") {
    return hinted("x", fmt::format("volumes: [{{name: v, {}}}],", volume), ns);
  };
  const std::string disk = "gcePersistentDisk: {pdName: d}";
  const std::string claim = "persistentVolumeClaim: {claimName: d}";
  constexpr auto kPlugin = PluginId::VolumeRestrictions;
  constexpr auto kGone = EventKind::AssignedPodDelete;
  EXPECT_TRUE(helps(kPlugin, kGone, with(disk, "other"), with(disk)));
  EXPECT_FALSE(helps(kPlugin, kGone, with("gcePersistentDisk: {pdName: e}"), with(disk)));
  EXPECT_TRUE(helps(kPlugin, kGone, with(claim), with(claim)));
  EXPECT_FALSE(helps(kPlugin, kGone, with(claim, "other"), with(claim)));
  EXPECT_FALSE(helps(kPlugin, kGone, hinted("x"), with(claim)));
  EXPECT_TRUE(helps(PluginId::NodeVolumeLimits, kGone, with(claim), with(claim)));
  EXPECT_FALSE(helps(PluginId::NodeVolumeLimits, kGone, hinted("x"), with(claim)));
}

TEST_F(Hints, a_new_toleration_of_the_pod_helps) {
  auto waiting =
      hinted("web", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}],");
  constexpr auto kPlugin = PluginId::NodeUnschedulable;
  EXPECT_TRUE(helps(kPlugin, EventKind::PodToleration, waiting, waiting, hinted("web")));
  auto other = hinted("web", "tolerations: [{key: x, operator: Exists}],");
  EXPECT_FALSE(helps(kPlugin, EventKind::PodToleration, other, other, hinted("web")));
}

TEST_F(Hints, namespaces_match_as_in_the_filter) {
  cluster_.namespaces().set("red", placement::testing::labels_of("{team: red}"));
  auto choosing = [](std::string_view rule) {
    return hinted("web", fmt::format("affinity: {{podAffinity: {{"
                                     "requiredDuringSchedulingIgnoredDuringExecution: [{{"
                                     "topologyKey: host, labelSelector: {{}}, namespaceSelector: "
                                     "{{matchExpressions: [{{key: team, {}}}]}}}}]}}}},",
                                     rule));
  };
  auto helps_from_red = [&](std::string_view rule) {
    return helps(PluginId::InterPodAffinity, EventKind::AssignedPodAdd, hinted("x", "", "red"),
                 choosing(rule));
  };
  EXPECT_TRUE(helps_from_red("operator: In, values: [red]"));
  EXPECT_FALSE(helps_from_red("operator: In, values: [blue]"));
  EXPECT_TRUE(helps_from_red("operator: NotIn, values: [red]"));  // as kube-scheduler before 1.37
}

TEST_F(Hints, only_pods_that_are_counted_change_the_skew) {
  auto waiting =
      hinted("web",
             "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
             "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}],");
  constexpr auto kPlugin = PluginId::PodTopologySpread;
  for (auto kind : {EventKind::AssignedPodAdd, EventKind::AssignedPodDelete}) {
    EXPECT_TRUE(helps(kPlugin, kind, hinted("web"), waiting));
    EXPECT_FALSE(helps(kPlugin, kind, hinted("db"), waiting));
    EXPECT_FALSE(helps(kPlugin, kind, hinted("web", "", "other"), waiting));
  }
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodLabel, hinted("db"), waiting, hinted("web")));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodAdd, hinted("db"), hinted("web")));
}

TEST_F(Hints, a_deleted_pod_frees_its_ports) {
  auto with_port = [](int port) {
    return pod_of(fmt::format(
        "{{metadata: {{name: p}}, spec: {{containers: [{{name: c, ports: [{{hostPort: {}}}]}}]}}}}",
        port));
  };
  constexpr auto kPlugin = PluginId::NodePorts;
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, with_port(80), with_port(80)));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, with_port(81), with_port(80)));
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, hinted("x"), with_port(80)));
  auto at = [](std::string_view address) {
    return pod_of(
        fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{name: c, ports: "
                    "[{{hostPort: 80, hostIP: {}}}]}}]}}}}",
                    address));
  };
  EXPECT_FALSE(helps(kPlugin, EventKind::AssignedPodDelete, at("10.0.0.1"), at("10.0.0.2")));
  EXPECT_TRUE(helps(kPlugin, EventKind::AssignedPodDelete, at("10.0.0.1"), with_port(80)));
}

}  // namespace
}  // namespace plim::sched
