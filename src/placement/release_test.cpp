#include "placement/release.hpp"

#include <gtest/gtest.h>

#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::node_of;
using testing::pod_of;

TEST(ReleaseFlag, accepts_the_syntax_of_kube_scheduler) {
  for (std::string_view text : {"1.35", "kube=1.35", "v1.35", " kube=v1.35 "}) {
    const auto read = parse_release(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(name_of(*read), "1.35");
  }
  EXPECT_EQ(name_of(Release()), "1.37");
}

TEST(ReleaseFlag, rejects_other_versions_and_components) {
  for (std::string_view text : {"", "1.33", "1.38", "1.35.4", "2.35", "35", "1.x"}) {
    const auto read = parse_release(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("expected 1.34 to 1.37"), std::string::npos);
  }
  EXPECT_EQ(parse_release("wardle=1.35").error().message,
            "component \"wardle\" is not known; the only component is kube");
}

TEST(FeatureGates, are_applied_or_reported_as_idle) {
  Release release;
  const auto idle = apply_feature_gates(
      "TaintTolerationComparisonOperators=true, OpportunisticBatching=true,GangScheduling=true",
      release);
  ASSERT_TRUE(idle);
  EXPECT_TRUE(release.numeric_tolerations);
  EXPECT_EQ(*idle, std::vector<std::string>{"GangScheduling=true"});
  EXPECT_FALSE(apply_feature_gates("TaintTolerationComparisonOperators=maybe", release));
  EXPECT_FALSE(apply_feature_gates("TaintTolerationComparisonOperators", release));
  release.minor = 34;
  EXPECT_FALSE(apply_feature_gates("TaintTolerationComparisonOperators=true", release));
}

TEST(Release, gates_of_volumes_override_what_the_version_does) {
  Release release;
  EXPECT_TRUE(release.scores_storage() && release.scales_volume_limits());
  ASSERT_TRUE(
      apply_feature_gates("StorageCapacityScoring=false,VolumeLimitScaling=false", release));
  EXPECT_FALSE(release.scores_storage() || release.scales_volume_limits());
  Release older;
  older.minor = 35;
  EXPECT_FALSE(older.scores_storage() || older.scales_volume_limits());
  ASSERT_TRUE(apply_feature_gates("StorageCapacityScoring=true,VolumeLimitScaling=true", older));
  EXPECT_TRUE(older.scores_storage() && older.scales_volume_limits());
}

TEST(DeclaredFeatures, a_pod_needs_a_node_that_declares_what_it_uses) {
  Engine engine;
  engine.set_node(node_of("{metadata: {name: old}, status: {allocatable: {pods: 10}}}"));
  engine.set_node(
      node_of("{metadata: {name: new}, status: {allocatable: {pods: 10}, declaredFeatures: "
              "[RestartAllContainersOnContainerExits]}}"));
  const auto restarts = pod_of(
      "{metadata: {name: r}, spec: {containers: [{name: c, restartPolicyRules: [{action: "
      "RestartAllContainers}]}]}}");
  EXPECT_EQ(decide_all(engine, restarts, default_profile()).node, "new");
  const auto others = pod_of(
      "{metadata: {name: u}, spec: {hostNetwork: true, hostUsers: false, containers: [{name: "
      "c}]}}");
  EXPECT_EQ(decide_all(engine, others, default_profile()).message,
            "0/2 nodes are available: 2 node(s) didn't match Pod's required features.");
  const auto mounts = pod_of(
      "{metadata: {name: m}, spec: {containers: [{name: c, volumeMounts: [{name: v, "
      "bindMountOptions: [noexec]}]}]}}");
  EXPECT_EQ(decide_all(engine, mounts, default_profile()).feasible, 0u);
  Release old;
  old.minor = 35;
  EXPECT_EQ(decide_all(engine, mounts, default_profile(old)).feasible, 2u);
  engine.set_node(
      node_of("{metadata: {name: old}, status: {allocatable: {pods: 10}, declaredFeatures: "
              "[VolumeBindMountOptions]}}"));
  EXPECT_EQ(decide_all(engine, mounts, default_profile()).node, "old");
  // Before 1.36 the plugin does nothing, even if a configuration names it.
  engine.follow(old);
  EXPECT_EQ(decide_all(engine, mounts, default_profile()).feasible, 2u);
}

TEST(NumericTolerations, work_with_their_feature_gate_only) {
  const auto node = node_of(
      "{metadata: {name: tainted}, spec: {taints: [{key: sla, value: '950', effect: NoSchedule}]}, "
      "status: {allocatable: {pods: 10}}}");
  const auto pod = pod_of(
      "{metadata: {name: p}, spec: {tolerations: [{key: sla, operator: Gt, value: '900'}], "
      "containers: [{name: c}]}}");
  Release release;
  for (const bool on : {false, true}) {
    release.numeric_tolerations = on;
    Engine engine;
    engine.follow(release);
    engine.set_node(node);
    EXPECT_EQ(decide_all(engine, pod, default_profile(release)).feasible, on ? 1u : 0u);
  }
}

}  // namespace
}  // namespace plim::placement
