#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kResize = "/api/v1/namespaces/default/pods/p/resize";
constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";

class ResizeTest : public ApiTest {
 protected:
  void create(std::string_view more = "") {
    auto made = send("POST", kPods,
                     fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{
        "containers":[{{"name":"c","image":"i:1","resources":{{"requests":{{"cpu":"100m",
        "memory":"64Mi"}},"limits":{{"cpu":"1","memory":"128Mi"}}}}}}]{}}}}})",
                                 more));
    ASSERT_EQ(made.status, 201) << made.body;
  }

  net::Response resize(std::string_view resources, std::string_view more = "") {
    const std::string body = fmt::format(
        R"({{"spec":{{"containers":[{{"name":"c","resources":{}{}}}]}}}})", resources, more);
    return send("PATCH", kResize, body, {{"Content-Type", std::string(kStrategic)}});
  }

  void refused(const net::Response& answer, std::string_view why) {
    EXPECT_EQ(answer.status, 422) << answer.body;
    EXPECT_NE(answer.body.find(why), std::string::npos) << answer.body;
  }
};

TEST_F(ResizeTest, changes_cpu_and_memory_and_counts_the_generation) {
  create();
  auto answer = resize(R"({"requests":{"cpu":"200m"},"limits":{"memory":"256Mi"}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json::value pod = parsed(answer.body);
  EXPECT_EQ(pod.at("spec").at("containers").at(0).at("resources"),
            parsed(R"({"limits":{"cpu":"1","memory":"256Mi"},
                       "requests":{"cpu":"200m","memory":"64Mi"}})"));
  EXPECT_EQ(int_at(pod, {"metadata", "generation"}), 2);
  EXPECT_EQ(parsed(send("GET", kResize).body), pod);
}

TEST_F(ResizeTest, ignores_everything_else) {
  create();
  json::value pod = parsed(send("GET", kResize).body);
  make_object(pod, {"metadata", "labels"})["a"] = "b";
  make_object(pod, {"spec"})["containers"].at(0).as_object()["image"] = "other:1";
  make_object(pod, {"status"})["phase"] = "Running";
  auto answer = send("PUT", kResize, to_json(pod));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(parsed(answer.body), parsed(send("GET", std::string(kPods) + "/p").body));
  EXPECT_EQ(int_at(parsed(answer.body), {"metadata", "generation"}), 1);
}

TEST_F(ResizeTest, must_not_change_the_qos_class) {
  create();
  refused(resize(R"({"requests":{"cpu":"1","memory":"128Mi"}})"),
          "Pod QOS Class may not change as a result of resizing");
}

TEST_F(ResizeTest, must_not_remove_amounts) {
  create();
  refused(resize(R"({"requests":null,"limits":{"cpu":null}})"),
          "resource limits cannot be removed");
}

TEST_F(ResizeTest, must_not_change_other_resources_or_policies) {
  create();
  refused(resize(R"({"requests":{"ephemeral-storage":"1Gi"}})"),
          "only cpu and memory resources are mutable");
  refused(resize("{}", R"(,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}])"),
          "only cpu and memory resources are mutable");
}

TEST_F(ResizeTest, must_not_add_or_rename_containers) {
  create();
  json::value pod = parsed(send("GET", kResize).body);
  json::value renamed = pod;
  renamed.at("spec").at("containers").at(0).as_object()["name"] = "d";
  refused(send("PUT", kResize, to_json(renamed)),
          "containers may not be renamed or reordered on resize");
  json::value second = pod.at("spec").at("containers").at(0);
  second.as_object()["name"] = "d";
  pod.at("spec").at("containers").as_array().push_back(second);
  refused(send("PUT", kResize, to_json(pod)), "containers may not be added or removed on resize");
}

TEST_F(ResizeTest, needs_a_node_that_reports_resources) {
  create();
  const std::string status = R"({"status":{"containerStatuses":[{"name":"c","image":"i:1",
      "state":{"running":{}}}]}})";
  auto set = send("PATCH", std::string(kPods) + "/p/status", status,
                  {{"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(set.status, 200) << set.body;
  refused(resize(R"({"requests":{"cpu":"200m"}})"),
          "Pod running on node without support for resize");
}

TEST_F(ResizeTest, must_fit_on_the_node) {
  create(R"(,"nodeName":"n")");
  auto lost = resize(R"({"requests":{"cpu":"200m"}})");
  EXPECT_EQ(lost.status, 403);
  EXPECT_NE(lost.body.find(R"(node \"n\" not found)"), std::string::npos) << lost.body;
  ASSERT_EQ(send("POST", "/api/v1/nodes",
                 R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"1Gi"}}})")
                .status,
            201);
  EXPECT_EQ(resize(R"({"requests":{"cpu":"200m"}})").status, 200);
  auto large = resize(R"({"limits":{"cpu":"5","memory":"2Gi"},
                          "requests":{"cpu":"5","memory":"1025Mi"}})");
  EXPECT_EQ(large.status, 403);
  EXPECT_EQ(text_at(parsed(large.body), {"message"}),
            "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, "
            "requested: 5000, allocatable: 4000; memory, requested: 1074790400, allocatable: "
            "1073741824");
}

TEST_F(ResizeTest, of_the_whole_pod_needs_a_node_that_declares_it) {
  create(R"(,"nodeName":"n","initContainers":[{"name":"i","image":"i:1"}],
            "resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"2"}})");
  ASSERT_EQ(send("POST", "/api/v1/nodes",
                 R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"1Gi"}}})")
                .status,
            201);
  const auto patch = [&](std::string_view spec) {
    return send("PATCH", kResize, fmt::format(R"({{"spec":{}}})", spec),
                {{"Content-Type", std::string(kStrategic)}});
  };
  constexpr std::string_view kBoth =
      R"({"resources":{"requests":{"cpu":"600m"}},
          "initContainers":[{"name":"i","resources":{"requests":{"cpu":"50m"}}}]})";
  const auto refused = patch(kBoth);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text_at(parsed(refused.body), {"message"}),
            "pods \"p\" is forbidden: pod update requires features "
            "InPlacePodLevelResourcesVerticalScaling, InPlacePodVerticalScalingInitContainers "
            "which are not available on node \"n\"");
  const auto declared =
      send("PATCH", "/api/v1/nodes/n/status",
           R"({"status":{"declaredFeatures":["InPlacePodLevelResourcesVerticalScaling",
                                             "InPlacePodVerticalScalingInitContainers"]}})",
           {{"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(declared.status, 200) << declared.body;
  EXPECT_EQ(patch(kBoth).status, 200);
}

TEST_F(ResizeTest, is_the_only_way_to_change_resources) {
  create();
  auto answer = send("PATCH", std::string(kPods) + "/p",
                     R"({"spec":{"containers":[{"name":"c",
                         "resources":{"requests":{"cpu":"200m"}}}]}})",
                     {{"Content-Type", std::string(kStrategic)}});
  refused(answer, "pod updates may not change fields other than");
  EXPECT_EQ(send("DELETE", kResize).status, 405);
}

TEST_F(ResizeTest, policies_are_checked_when_a_pod_is_created) {
  auto answer = send("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i:1","resizePolicy":[
        {"resourceName":"memory","restartPolicy":"RestartContainer"},
        {"resourceName":"disk","restartPolicy":"NotRequired"}]}]}})");
  refused(answer, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  refused(answer, "supported values: \\\"cpu\\\", \\\"memory\\\"");
}

}  // namespace
}  // namespace plim::local::apiserver::testing
