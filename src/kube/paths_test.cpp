#include "kube/paths.hpp"

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

using paths::Mistake;
using paths::mistake_in;

json::value pod_to_read() {
  return json::value{
      {"metadata",
       {{"name", "p"},
        {"labels", {{"app", "web"}}},
        {"creationTimestamp", "2024-01-01T00:00:00Z"}}},
      {"spec",
       {{"nodeName", "n"},
        {"hostNetwork", true},
        {"terminationGracePeriodSeconds", 30},
        {"containers", json::array{json::object{{"name", "c"}, {"args", {"a", "b"}}}}}}}};
}

TEST(Paths, refuses_what_kubernetes_does_not_have) {
  static_assert(mistake_in("Pod.spec.nodeName") == Mistake::none);
  static_assert(mistake_in("Pod.spec.nodename") == Mistake::no_such_field);
  static_assert(mistake_in("Pod.spec.node") == Mistake::no_such_field);  // only a beginning
  static_assert(mistake_in("Pod.spec.nodeNameX") == Mistake::no_such_field);
  static_assert(mistake_in("Pod.spec.") == Mistake::no_such_field);
  static_assert(mistake_in("pod.spec") == Mistake::no_such_type);
  static_assert(mistake_in("Pot.spec") == Mistake::no_such_type);
  static_assert(mistake_in("Pod") == Mistake::no_field_given);
  static_assert(mistake_in("") == Mistake::no_field_given);
}

TEST(Paths, goes_into_objects_and_maps_only) {
  static_assert(mistake_in("Pod.spec.containers.name") == Mistake::no_fields_below);
  static_assert(mistake_in("Pod.spec.nodeName.name") == Mistake::no_fields_below);
  static_assert(mistake_in("Pod.metadata.labels.app", paths::text) == Mistake::none);
  static_assert(mistake_in("ResourceSlice.spec.devices") == Mistake::none);
  static_assert(mistake_in("Device.capacity.memory.value", paths::text) == Mistake::none);
  static_assert(mistake_in("Device.capacity.memory.amount") == Mistake::no_such_field);
}

TEST(Paths, refuses_fields_of_another_type) {
  static_assert(mistake_in("Deployment.spec.replicas", paths::integer) == Mistake::none);
  static_assert(mistake_in("Deployment.spec.replicas", paths::text) == Mistake::other_type);
  static_assert(mistake_in("Deployment.spec.paused", paths::boolean) == Mistake::none);
  static_assert(mistake_in("Pod.spec.containers", paths::list) == Mistake::none);
  static_assert(mistake_in("Pod.spec", paths::list) == Mistake::other_type);
  static_assert(mistake_in("Job.status.startTime", paths::time) == Mistake::none);
  static_assert(mistake_in("Job.status.active", paths::time) == Mistake::other_type);
  // Number or percentage.
  static_assert(mistake_in("ServicePort.targetPort", paths::integer) == Mistake::none);
  static_assert(mistake_in("ServicePort.targetPort", paths::text) == Mistake::none);
}

TEST(Paths, finds_the_first_and_the_last_of_the_table) {
  static_assert(mistake_in("APIGroup.name") == Mistake::none);
  static_assert(mistake_in("WindowsSecurityContextOptions.hostProcess") == Mistake::none);
}

TEST(Paths, reads_what_is_there) {
  const json::value object = pod_to_read();
  EXPECT_EQ(text_at(object, "Pod.spec.nodeName"), "n");
  EXPECT_EQ(text_at(object, "Pod.metadata.creationTimestamp"), "2024-01-01T00:00:00Z");
  EXPECT_EQ(int_at(object, "Pod.spec.terminationGracePeriodSeconds"), 30);
  EXPECT_TRUE(bool_at(object, "Pod.spec.hostNetwork"));
  const json::array& containers = list_at(object, "Pod.spec.containers");
  ASSERT_EQ(containers.size(), 1U);
  EXPECT_EQ(texts_at(containers[0], "Container.args"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(*find(object, "Object.metadata.name"), json::value("p"));
  EXPECT_EQ(*find(object, "Pod.metadata.labels", "app"), json::value("web"));
}

TEST(Paths, reads_nothing_where_nothing_is) {
  const json::value object = pod_to_read();
  EXPECT_EQ(text_at(object, "Pod.status.phase"), "");
  EXPECT_EQ(int_at(object, "Pod.spec.priority"), std::nullopt);
  EXPECT_FALSE(bool_at(object, "Pod.spec.hostPID"));
  EXPECT_TRUE(list_at(object, "Pod.spec.volumes").empty());
  EXPECT_EQ(find(object, "Pod.status"), nullptr);
  EXPECT_EQ(find(object, "Pod.metadata.labels", "tier"), nullptr);
  EXPECT_EQ(find(object, "Pod.metadata.annotations", "a"), nullptr);
  EXPECT_EQ(find(json::value("text"), "Pod.spec"), nullptr);
}

TEST(Paths, makes_objects_along_the_way) {
  json::value object = pod_to_read();
  make_object(object, "Pod.metadata.annotations")["a"] = "b";
  make_object(object, "Pod.status")[key("Pod.status.phase")] = "Running";
  EXPECT_EQ(text_at(object, {"metadata", "annotations", "a"}), "b");
  EXPECT_EQ(text_at(object, {"metadata", "name"}), "p");
  EXPECT_EQ(text_at(object, {"status", "phase"}), "Running");
  json::value nothing;
  make_object(nothing, "Pod.spec.affinity.nodeAffinity");
  EXPECT_EQ(to_json(nothing), R"({"spec":{"affinity":{"nodeAffinity":{}}}})");
}

}  // namespace
}  // namespace plim::kube
