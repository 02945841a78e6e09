#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "placement/engine.hpp"
#include "placement/migrated_volumes.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using testing::labels_of;
using testing::plain_node;
using testing::pod_of;

constexpr std::string_view kFull = "0/1 nodes are available: 1 node(s) exceed max volume count.";

class VolumeLimits : public ::testing::Test {
 protected:
  VolumeLimits() {
    engine_.set_node(plain_node("a"));
    limit("csi.example", 2);
    engine_.volumes().set_class(
        {.name = "wait", .waits_for_consumer = true, .provisioner = "csi.example"});
  }

  void limit(std::string driver, std::int64_t count) {
    engine_.volumes().csi().set_node({.name = "a", .drivers = {{std::move(driver), count}}});
  }

  void bound(const std::string& name, std::string driver = "csi.example") {
    engine_.volumes().set_claim({.ns = "default", .name = name, .volume = name, .bound = true});
    PersistentVolume made;
    made.name = name;
    made.source = {.driver = std::move(driver), .handle = "h-" + name};
    engine_.volumes().set_volume(made);
  }

  static PodPointer user(std::string_view name, std::string_view claim) {
    return pod_of(
        fmt::format("{{metadata: {{name: {}}}, spec: {{containers: [{{name: c}}], volumes: "
                    "[{{name: v, persistentVolumeClaim: {{claimName: {}}}}}]}}}}",
                    name, claim));
  }

  std::string told(const PodPointer& pod, const Profile& profile = default_profile()) {
    auto made = decide_all(engine_, pod, profile);
    return made.message.empty() ? made.node : made.message;
  }

  Engine engine_;
};

TEST_F(VolumeLimits, a_node_holds_only_so_many_volumes_of_a_driver) {
  for (const char* name : {"one", "two", "three"}) bound(name);
  engine_.set_pod(user("p1", "one"), "a");
  EXPECT_EQ(told(user("p", "two")), "a");
  engine_.set_pod(user("p2", "two"), "a");
  EXPECT_EQ(told(user("p", "three")), kFull);
  EXPECT_EQ(told(user("p", "two")), "a");  // attached already
  bound("other", "another.example");
  EXPECT_EQ(told(user("p", "other")), "a");
  limit("csi.example", 3);
  EXPECT_EQ(told(user("p", "three")), "a");
}

TEST_F(VolumeLimits, attachments_without_a_pod_count) {
  for (const char* name : {"one", "two", "three"}) bound(name);
  CsiTable& csi = engine_.volumes().csi();
  csi.set_attachment({.name = "x", .node = "a", .attacher = "csi.example", .volume = "one"});
  csi.set_attachment({.name = "y", .node = "a", .attacher = "csi.example", .volume = "two"});
  EXPECT_EQ(told(user("p", "three")), kFull);
  EXPECT_EQ(told(user("p", "one")), kFull);  // as with kube-scheduler: no pod uses it yet
  csi.remove_attachment({.name = "x", .node = "a", .attacher = {}, .volume = {}});
  EXPECT_EQ(told(user("p", "three")), "a");
}

TEST_F(VolumeLimits, a_claim_without_a_volume_counts_by_its_class) {
  limit("csi.example", 1);
  for (const char* name : {"one", "two"}) {
    VolumeClaim made{.ns = "default", .name = name, .storage_class = "wait"};
    engine_.volumes().set_claim(made);
  }
  EXPECT_EQ(told(user("p", "one")), "a");
  engine_.set_pod(user("p1", "one"), "a");
  EXPECT_EQ(told(user("p", "two")), kFull);
}

TEST_F(VolumeLimits, disks_in_pods_count_for_the_driver_that_they_are_migrated_to) {
  limit("ebs.csi.aws.com", 1);
  const auto with_disk = [](std::string_view name, std::string_view id) {
    return pod_of(
        fmt::format("{{metadata: {{name: {}}}, spec: {{containers: [{{name: c}}], volumes: "
                    "[{{name: v, awsElasticBlockStore: {{volumeID: '{}'}}}}]}}}}",
                    name, id));
  };
  engine_.set_pod(with_disk("p1", "vol-1"), "a");
  EXPECT_EQ(told(with_disk("p", "aws://zone/vol-2")), kFull);
  engine_.volumes().csi().remove_node("a");
  EXPECT_EQ(told(with_disk("p", "vol-2")), "a");
}

TEST_F(VolumeLimits, a_driver_may_have_to_be_installed) {
  bound("one");
  CsiTable& csi = engine_.volumes().csi();
  csi.set_driver({.name = "csi.example", .prevent_if_missing = true});
  EXPECT_EQ(told(user("p", "one")), "a");
  csi.remove_node("a");
  EXPECT_EQ(told(user("p", "one")),
            "0/1 nodes are available: 1 csi.example CSI driver is not installed on the node.");
  Profile older = default_profile();
  older.release.volume_limit_scaling = false;
  EXPECT_EQ(told(user("p", "one"), older), "a");
}

TEST(MigratedVolumes, take_the_topology_labels_of_their_driver) {
  PersistentVolume volume;
  volume.source.in_tree = "kubernetes.io/gce-pd";
  volume.node_affinity = *parse_yaml(
      "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, "
      "values: [z1]}]}]}");
  EXPECT_EQ(to_json(csi_affinity(volume)),
            R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.gke.io/zone",)"
            R"("operator":"In","values":["z1"]}]}]})");
  volume.node_affinity = nullptr;
  volume.labels = labels_of("{failure-domain.beta.kubernetes.io/zone: z1__z2}");
  EXPECT_EQ(to_json(csi_affinity(volume)),
            R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.gke.io/zone",)"
            R"("operator":"In","values":["z1","z2"]}]}]})");
}

}  // namespace
}  // namespace plim::placement
