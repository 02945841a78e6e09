#include "placement/volume_match.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "placement/engine.hpp"
#include "placement/side_objects.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::plain_node;
using testing::pod_of;
using testing::raw_score;

constexpr std::string_view kNoVolumes = "node(s) didn't find available persistent volumes to bind";

class WaitingClaims : public ::testing::Test {
 protected:
  WaitingClaims() {
    engine_.set_node(plain_node("a", "{zone: z1, kubernetes.io/hostname: a}"));
    engine_.set_node(plain_node("b", "{zone: z2, kubernetes.io/hostname: b}"));
    engine_.volumes().set_class({.name = "local",
                                 .waits_for_consumer = true,
                                 .provisioner = "kubernetes.io/no-provisioner"});
    engine_.volumes().set_class(
        {.name = "csi", .waits_for_consumer = true, .provisioner = "d.example"});
  }

  template <class Read>
  static auto read(Read read, std::string_view yaml) {
    auto object = parse_yaml(yaml);
    EXPECT_TRUE(object);
    kube::ObjectMeta meta;
    meta.name = text_at(*object, {"metadata", "name"});
    meta.uid = "u-" + meta.name;
    meta.resource_version = "7";
    return read(meta, *object);
  }

  void claim(std::string_view name, std::string_view spec) {
    VolumeClaim made =
        read(read_claim, fmt::format("{{metadata: {{name: {}}}, spec: {{{}}}}}", name, spec));
    made.ns = "default";
    engine_.volumes().set_claim(made);
  }

  // An available volume in a zone; "" for any.
  void volume(std::string_view name, std::string_view size, std::string_view zone = "",
              std::string_view more = "") {
    const std::string affinity =
        zone.empty() ? ""
                     : fmt::format(
                           "nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: "
                           "[{{key: zone, operator: In, values: [{}]}}]}}]}}}}, ",
                           zone);
    engine_.volumes().set_volume(read(
        read_volume, fmt::format("{{metadata: {{name: {}}}, spec: {{storageClassName: local, "
                                 "accessModes: [ReadWriteOnce], {}{} capacity: {{storage: {}}}}}, "
                                 "status: {{phase: Available}}}}",
                                 name, affinity, more, size)));
  }

  static PodPointer user(std::initializer_list<std::string_view> claims) {
    std::string volumes;
    for (std::string_view name : claims)
      volumes += fmt::format("{{name: {0}, persistentVolumeClaim: {{claimName: {0}}}}},", name);
    return pod_of(fmt::format(
        "{{metadata: {{name: p}}, spec: {{containers: [{{name: c}}], volumes: [{}]}}}}", volumes));
  }

  std::string told(std::initializer_list<std::string_view> claims) {
    auto made = decide_all(engine_, user(claims), default_profile());
    return made.message.empty() ? made.node : made.message;
  }

  VolumePlan plan(std::initializer_list<std::string_view> claims, std::string_view node) {
    return plan_volumes(engine_.cluster(), *user(claims), node);
  }

  Engine engine_;
};

constexpr std::string_view kLocal1 =
    "storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}";
constexpr std::string_view kLocal2 =
    "storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}";
constexpr std::string_view kCsi1 =
    "storageClassName: csi, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}";

TEST_F(WaitingClaims, a_pod_goes_where_a_volume_is_available) {
  claim("data", kLocal1);
  EXPECT_EQ(told({"data"}), fmt::format("0/2 nodes are available: 2 {}.", kNoVolumes));
  volume("small", "500Mi", "z1");
  EXPECT_EQ(told({"data"}), fmt::format("0/2 nodes are available: 2 {}.", kNoVolumes));
  volume("pv", "1Gi", "z2");
  EXPECT_EQ(told({"data"}), "b");
}

TEST_F(WaitingClaims, the_smallest_volume_that_fits_is_taken) {
  claim("data", kLocal1);
  volume("large", "10Gi", "z1");
  volume("fits", "2Gi", "z1");
  volume("elsewhere", "1Gi", "z2");
  volume("anywhere", "3Gi");
  ASSERT_EQ(plan({"data"}, "a").statics.size(), 1U);
  EXPECT_EQ(plan({"data"}, "a").statics[0].volume, "fits");
  EXPECT_EQ(plan({"data"}, "b").statics[0].volume, "elsewhere");
  EXPECT_EQ(plan({"data"}, "b").statics[0].version, "7");
  EXPECT_FALSE(plan({"data"}, "b").statics[0].named);
}

TEST_F(WaitingClaims, two_claims_of_a_pod_get_two_volumes) {
  claim("data", kLocal2);
  claim("log", kLocal1);
  volume("one", "2Gi", "z1");
  EXPECT_EQ(told({"data", "log"}), fmt::format("0/2 nodes are available: 2 {}.", kNoVolumes));
  volume("two", "1Gi", "z1");
  EXPECT_EQ(told({"data", "log"}), "a");
  const VolumePlan made = plan({"data", "log"}, "a");
  ASSERT_EQ(made.statics.size(), 2U);  // the smaller claim chooses first
  EXPECT_EQ(made.statics[0].claim.name, "log");
  EXPECT_EQ(made.statics[0].volume, "two");
  EXPECT_EQ(made.statics[1].volume, "one");
}

TEST_F(WaitingClaims, modes_selector_and_class_must_match) {
  claim("data", kLocal1);
  const std::string none = fmt::format("0/2 nodes are available: 2 {}.", kNoVolumes);
  volume("pv", "1Gi", "", "volumeMode: Block, ");
  EXPECT_EQ(told({"data"}), none);
  volume("pv", "1Gi", "", "volumeAttributesClassName: fast, ");
  EXPECT_EQ(told({"data"}), none);
  volume("pv", "1Gi", "", "claimRef: {namespace: default, name: other}, ");
  EXPECT_EQ(told({"data"}), none);
  claim("data",
        "storageClassName: local, accessModes: [ReadWriteMany], "
        "resources: {requests: {storage: 1Gi}}");
  volume("pv", "1Gi");
  EXPECT_EQ(told({"data"}), none);
  claim("data",
        "storageClassName: local, accessModes: [ReadWriteOnce], selector: {matchLabels: "
        "{tier: gold}}, resources: {requests: {storage: 1Gi}}");
  EXPECT_EQ(told({"data"}), none);
  claim("data", kLocal1);
  EXPECT_NE(told({"data"}), none);
}

TEST_F(WaitingClaims, a_volume_that_names_the_claim_is_preferred) {
  claim("data", kLocal1);
  volume("small", "1Gi");
  volume("mine", "5Gi", "z2", "claimRef: {namespace: default, name: data}, ");
  EXPECT_EQ(told({"data"}), "b");  // on the other node there is no match at all
  const VolumePlan made = plan({"data"}, "b");
  ASSERT_EQ(made.statics.size(), 1U);
  EXPECT_EQ(made.statics[0].volume, "mine");
  EXPECT_TRUE(made.statics[0].named);
  EXPECT_FALSE(made.statics[0].written);
  volume("mine", "5Gi", "z2", "claimRef: {namespace: default, name: data, uid: u-data}, ");
  EXPECT_TRUE(plan({"data"}, "b").statics[0].written);
}

TEST_F(WaitingClaims, a_prebound_claim_waits_for_the_controller) {
  claim("data", "storageClassName: local, volumeName: pv");
  EXPECT_EQ(told({"data"}),
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
}

TEST_F(WaitingClaims, a_new_volume_is_made_where_the_class_allows) {
  claim("data", kCsi1);
  EXPECT_FALSE(told({"data"}).starts_with("0/"));
  engine_.volumes().set_class({.name = "csi",
                               .waits_for_consumer = true,
                               .provisioner = "d.example",
                               .topologies = {{{"zone", {"z2", "z9"}}}}});
  EXPECT_EQ(told({"data"}), "b");
  const VolumePlan made = plan({"data"}, "b");
  EXPECT_TRUE(made.statics.empty());
  ASSERT_EQ(made.provisions.size(), 1U);
  EXPECT_EQ(made.provisions[0].claim.uid, "u-data");
  EXPECT_TRUE(plan({"data"}, "a").empty());
}

TEST_F(WaitingClaims, a_claim_with_a_selected_node_stays_there) {
  claim("data", kCsi1);
  VolumeClaim made = *engine_.volumes().claim("default", "data");
  made.selected_node = "b";
  engine_.volumes().set_claim(made);
  EXPECT_EQ(told({"data"}), "b");
  EXPECT_TRUE(plan({"data"}, "b").provisions[0].written);
  made.selected_node = "gone";
  engine_.volumes().set_claim(made);
  EXPECT_EQ(told({"data"}), fmt::format("0/2 nodes are available: 2 {}.", kNoVolumes));
}

TEST_F(WaitingClaims, a_driver_with_capacities_needs_enough_storage) {
  claim("data", kCsi1);
  engine_.volumes().csi().set_driver({.name = "d.example", .storage_capacity = true});
  EXPECT_EQ(told({"data"}), "0/2 nodes are available: 2 node(s) did not have enough free storage.");
  auto capacity = [&](std::string_view name, std::string_view more) {
    engine_.volumes().csi().set_capacity(
        read(read_capacity,
             fmt::format("{{metadata: {{name: {}}}, storageClassName: csi, {}}}", name, more)));
  };
  capacity("c1",
           "capacity: 10Gi, maximumVolumeSize: 500Mi, nodeTopology: {matchLabels: {zone: z1}}");
  capacity("c2", "capacity: 1Gi, nodeTopology: {matchLabels: {zone: z2}}");
  capacity("c3", "capacity: 100Gi");  // no topology: of no use
  EXPECT_EQ(told({"data"}), "b");
  capacity("c2", "capacity: 1000Mi, nodeTopology: {matchLabels: {zone: z2}}");
  EXPECT_EQ(told({"data"}), "0/2 nodes are available: 2 node(s) did not have enough free storage.");
}

TEST_F(WaitingClaims, a_capacity_replaces_one_of_another_class_under_the_same_name) {
  claim("data", kCsi1);
  engine_.volumes().csi().set_driver({.name = "d.example", .storage_capacity = true});
  auto capacity = [&](std::string_view storage_class) {
    engine_.volumes().csi().set_capacity(read(
        read_capacity, fmt::format("{{metadata: {{name: c}}, storageClassName: {}, capacity: 10Gi, "
                                   "nodeTopology: {{matchLabels: {{zone: z1}}}}}}",
                                   storage_class)));
  };
  capacity("csi");
  EXPECT_EQ(told({"data"}), "a");
  capacity("other");
  EXPECT_EQ(told({"data"}), "0/2 nodes are available: 2 node(s) did not have enough free storage.");
}

TEST_F(WaitingClaims, scores_prefer_nodes_with_more_free_storage) {
  claim("data", kCsi1);
  engine_.volumes().csi().set_driver({.name = "d.example", .storage_capacity = true});
  auto capacity = [&](std::string_view zone, std::string_view size) {
    engine_.volumes().csi().set_capacity(read(
        read_capacity, fmt::format("{{metadata: {{name: c{0}}}, storageClassName: csi, capacity: "
                                   "{1}, nodeTopology: {{matchLabels: {{zone: {0}}}}}}}",
                                   zone, size)));
  };
  capacity("z1", "4Gi");
  capacity("z2", "10Gi");
  auto made = decide_all(engine_, user({"data"}), default_profile());
  EXPECT_EQ(raw_score(made, "a", PluginId::VolumeBinding), 75);
  EXPECT_EQ(raw_score(made, "b", PluginId::VolumeBinding), 90);
  EXPECT_EQ(made.node, "b");
  Profile full_first = default_profile();
  full_first.volumes.shape = {{0, 0}, {100, 10}};
  made = decide_all(engine_, user({"data"}), full_first);
  EXPECT_EQ(raw_score(made, "a", PluginId::VolumeBinding), 25);
  full_first.release.storage_capacity_scoring = false;
  made = decide_all(engine_, user({"data"}), full_first);
  EXPECT_EQ(raw_score(made, "a", PluginId::VolumeBinding), -1);
}

TEST_F(WaitingClaims, chosen_volumes_score_by_how_full_they_get) {
  claim("data", kLocal1);
  volume("one", "2Gi", "z1");
  volume("two", "1Gi", "z2");
  auto made = decide_all(engine_, user({"data"}), default_profile());
  EXPECT_EQ(raw_score(made, "a", PluginId::VolumeBinding), 50);
  EXPECT_EQ(raw_score(made, "b", PluginId::VolumeBinding), 0);
}

TEST_F(WaitingClaims, pods_without_claims_score_0) {
  auto made = decide_all(engine_, user({}), default_profile());
  EXPECT_EQ(raw_score(made, "a", PluginId::VolumeBinding), 0);
}

TEST_F(WaitingClaims, reasons_follow_the_first_bound_claim_that_does_not_fit) {
  engine_.volumes().set_claim({.ns = "default", .name = "gone", .volume = "none", .bound = true});
  engine_.volumes().set_claim({.ns = "default", .name = "far", .volume = "away", .bound = true});
  volume("away", "1Gi", "z9");
  claim("data", kLocal1);
  EXPECT_EQ(told({"far", "data"}),
            fmt::format("0/2 nodes are available: 2 {}, 2 node(s) didn't match PersistentVolume's "
                        "node affinity.",
                        kNoVolumes));
  EXPECT_EQ(decide_all(engine_, user({"gone", "far"}), default_profile()).message,
            "0/2 nodes are available: persistentvolume \"none\" not found.");  // VolumeZone
}

TEST_F(WaitingClaims, an_ephemeral_claim_must_belong_to_the_pod) {
  claim("p-v", kCsi1);
  auto pod = pod_of(
      "{metadata: {name: p, uid: u1}, spec: {containers: [{name: c}], volumes: "
      "[{name: v, ephemeral: {volumeClaimTemplate: {}}}]}}");
  EXPECT_EQ(decide_all(engine_, pod, default_profile()).message,
            "0/2 nodes are available: PVC default/p-v was not created for pod default/p (pod is "
            "not owner).");
  VolumeClaim made = *engine_.volumes().claim("default", "p-v");
  made.controller = "u1";
  engine_.volumes().set_claim(made);
  EXPECT_EQ(decide_all(engine_, pod, default_profile()).message, "");
}

TEST_F(WaitingClaims, many_local_volumes_are_found_by_their_host) {
  claim("data", kLocal1);
  for (int i = 0; i < 50; ++i)
    volume(
        fmt::format("pv{}", i), "1Gi", "",
        fmt::format("nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: "
                    "kubernetes.io/hostname, operator: In, values: [{}]}}]}}]}}}}, ",
                    i == 40 ? "b" : fmt::format("n{}", i)));
  EXPECT_EQ(told({"data"}), "b");
  EXPECT_EQ(plan({"data"}, "b").statics[0].volume, "pv40");
}

}  // namespace
}  // namespace plim::placement
