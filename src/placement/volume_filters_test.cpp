#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::labels_of;
using testing::plain_node;
using testing::pod_of;

PodPointer with_volume(std::string_view volume) {
  return pod_of(fmt::format(
      "{{metadata: {{name: p}}, spec: {{containers: [{{name: c}}], volumes: [{{name: v, {}}}]}}}}",
      volume));
}

constexpr std::string_view kClaim = "persistentVolumeClaim: {claimName: data}";

class VolumesTest : public ::testing::Test {
 protected:
  VolumesTest() {
    engine_.set_node(plain_node("a", "{zone: z1, topology.kubernetes.io/zone: east}"));
    engine_.set_node(plain_node("b", "{zone: z2, topology.kubernetes.io/zone: west}"));
  }

  std::string told(std::string_view volume) {
    auto made = decide_all(engine_, with_volume(volume), default_profile());
    return made.message.empty() ? made.node : made.message;
  }

  void bind(std::string_view affinity, std::string_view labels = "{}") {
    engine_.volumes().set_claim({.ns = "default", .name = "data", .volume = "pv1", .bound = true});
    json::value required = affinity.empty() ? json::value() : *parse_yaml(affinity);
    engine_.volumes().set_volume(
        {.name = "pv1", .labels = labels_of(labels), .node_affinity = std::move(required)});
  }

  Engine engine_;
};

TEST_F(VolumesTest, a_bound_volume_limits_the_pod_to_its_nodes) {
  bind("{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z2]}]}]}");
  EXPECT_EQ(told(kClaim), "b");
  bind("{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z3]}]}]}");
  EXPECT_EQ(told(kClaim),
            "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.");
}

TEST_F(VolumesTest, zone_labels_of_a_volume_are_obeyed) {
  bind("", "{topology.kubernetes.io/zone: west__north}");
  EXPECT_EQ(told(kClaim), "b");
  bind("", "{failure-domain.beta.kubernetes.io/zone: east}");
  EXPECT_EQ(told(kClaim), "a");
  bind("", "{topology.kubernetes.io/zone: south}");
  EXPECT_EQ(told(kClaim), "0/2 nodes are available: 2 node(s) had no available volume zone.");
}

TEST_F(VolumesTest, reports_claims_that_are_not_ready) {
  EXPECT_EQ(told(kClaim), "0/2 nodes are available: persistentvolumeclaim \"data\" not found.");
  EXPECT_EQ(told("ephemeral: {volumeClaimTemplate: {}}"),
            "0/2 nodes are available: waiting for ephemeral volume controller to create the "
            "persistentvolumeclaim \"p-v\".");
  engine_.volumes().set_claim({.ns = "default", .name = "data"});
  EXPECT_EQ(told(kClaim),
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
  engine_.volumes().set_claim({.ns = "default", .name = "data", .volume = "pv9", .lost = true});
  EXPECT_EQ(told(kClaim),
            "0/2 nodes are available: persistentvolumeclaim \"data\" bound to non-existent "
            "persistentvolume \"pv9\".");
  engine_.volumes().set_claim({.ns = "default", .name = "data", .volume = "pv9", .deleted = true});
  EXPECT_EQ(told(kClaim),
            "0/2 nodes are available: persistentvolumeclaim \"data\" is being deleted.");
}

TEST_F(VolumesTest, a_claim_for_one_pod_has_one_user) {
  bind("");
  engine_.volumes().set_claim(
      {.ns = "default", .name = "data", .volume = "pv1", .bound = true, .once_pod = true});
  auto user = with_volume(kClaim);
  engine_.set_pod(user, "a");
  EXPECT_EQ(told(kClaim),
            "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with "
            "ReadWriteOncePod access mode already in-use by another pod.");
  engine_.remove_pod(user->meta.uid);
  EXPECT_NE(told(kClaim).substr(0, 2), "0/");
}

TEST_F(VolumesTest, old_disks_are_shared_by_readers_only) {
  engine_.remove_node("b");
  engine_.set_pod(with_volume("gcePersistentDisk: {pdName: d, readOnly: true}"), "a");
  EXPECT_EQ(told("gcePersistentDisk: {pdName: d, readOnly: true}"), "a");
  EXPECT_EQ(told("gcePersistentDisk: {pdName: d}"),
            "0/1 nodes are available: 1 node(s) had no available disk.");
  EXPECT_EQ(told("gcePersistentDisk: {pdName: e}"), "a");
}

TEST_F(VolumesTest, dynamic_resources_wait) {
  auto pod =
      pod_of("{metadata: {name: p}, spec: {containers: [{name: c}], resourceClaims: [{name: g}]}}");
  EXPECT_EQ(decide_all(engine_, pod, default_profile()).message,
            "0/2 nodes are available: dynamic resource claims are not supported yet by plimsoll.");
}

}  // namespace
}  // namespace plim::placement
