// ReplicaSets and Deployments on a complete API server.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using kube::resources::deployments;
using kube::resources::events;
using kube::resources::pods;
using kube::resources::replica_sets;
using testing::deployment;
using testing::pod_template;

class Workloads : public testing::ControllersTest {
 protected:
  json::value status_of(const kube::Resource& kind, const std::string& name) {
    return get(kind, name).at("status");
  }
};

TEST_F(Workloads, a_deployment_of_ten_becomes_ten_pods) {
  start("deployment,replicaset");
  create(deployments, deployment("web", 10));
  settle();
  ASSERT_EQ(list(pods).size(), 10u);
  const json::value pod = list(pods).at(0);
  ASSERT_EQ(list(replica_sets).size(), 1u);
  const json::value set = list(replica_sets).at(0);
  EXPECT_TRUE(kube::is_controlled_by(pod, kube::uid_of(set)));
  EXPECT_TRUE(kube::name_of(pod).starts_with(std::string(kube::name_of(set)) + "-"));
  EXPECT_EQ(kube::label_of(pod, "pod-template-hash"), kube::label_of(set, "pod-template-hash"));
  run_pods();
  const json::value status = status_of(deployments, "web");
  EXPECT_EQ(int_at(status, {"availableReplicas"}), 10);
  EXPECT_EQ(int_at(status, {"observedGeneration"}),
            int_at(get(deployments, "web"), {"metadata", "generation"}));
  EXPECT_EQ(kube::annotation_of(get(deployments, "web"), "deployment.kubernetes.io/revision"), "1");
  // The controller's annotations do not count as a change by the user.
  EXPECT_EQ(int_at(get(deployments, "web"), {"metadata", "generation"}), 1);
}

TEST_F(Workloads, report_what_they_do_in_events) {
  start("deployment,replicaset");
  create(deployments, deployment("web", 3));
  settle();
  std::vector<std::string> told;
  for (const json::value& event : list(events))
    told.push_back(fmt::format("{} {}", text_at(event, {"reason"}), text_at(event, {"message"})));
  EXPECT_THAT(told, ::testing::Contains(::testing::MatchesRegex(
                        "ScalingReplicaSet Scaled up replica set web-[a-z0-9]+ from 0 to 3")));
  // While the fake clock stands still, events get equal names, and only one is kept.
  EXPECT_THAT(told,
              ::testing::Contains(::testing::StartsWith("SuccessfulCreate Created pod: web-")));
}

TEST_F(Workloads, a_rolling_update_keeps_its_bounds) {
  start("deployment,replicaset");
  create(deployments, deployment("web", 10));
  settle();
  run_pods();
  edit(deployments, "web", [](json::value& object) {
    make_object(object, {"spec"})["template"] = pod_template("app:2");
  });
  for (int i = 0; i < 40; ++i) {
    settle();
    std::size_t ready = 0;
    std::vector<json::value> all = list(pods);
    for (const json::value& pod : all)
      if (text_at(pod, {"status", "phase"}) == "Running") ++ready;
    EXPECT_LE(all.size(), 13u);
    EXPECT_GE(ready, 8u);
    auto waiting = std::find_if(all.begin(), all.end(), [](const json::value& pod) {
      return text_at(pod, {"status", "phase"}) == "Pending";
    });
    if (waiting != all.end()) set_phase(std::string(kube::name_of(*waiting)), "Running");
  }
  settle();
  std::vector<json::value> all = list(pods);
  EXPECT_EQ(all.size(), 10u);
  for (const json::value& pod : all)
    EXPECT_EQ(text_at(pod.at("spec").at("containers").at(0), {"image"}), "app:2");
  EXPECT_EQ(list(replica_sets).size(), 2u);
}

TEST_F(Workloads, scaling_down_deletes_and_up_again_creates) {
  start("deployment,replicaset");
  create(deployments, deployment("web", 5));
  settle();
  for (std::int64_t size : {2, 7, 0, 3}) {
    edit(deployments, "web",
         [&](json::value& object) { make_object(object, {"spec"})["replicas"] = size; });
    settle();
    EXPECT_EQ(list(pods).size(), static_cast<std::size_t>(size));
  }
}

TEST_F(Workloads, a_deleted_pod_is_replaced) {
  start("replicaset");
  json::value set = deployment("web", 3);
  create(replica_sets, std::move(set));
  settle();
  const std::string name(kube::name_of(list(pods).at(0)));
  remove(pods, name);
  settle();
  std::vector<json::value> all = list(pods);
  EXPECT_EQ(all.size(), 3u);
  for (const json::value& pod : all) EXPECT_NE(kube::name_of(pod), name);
}

TEST_F(Workloads, a_replica_set_adopts_matching_pods_and_releases_others) {
  start("replicaset");
  json::value lonely = pod_template();
  make_object(lonely, {"metadata"})["name"] = "lonely";
  create(pods, lonely);
  create(replica_sets, deployment("web", 2));
  settle();
  const std::string uid(kube::uid_of(get(replica_sets, "web")));
  ASSERT_EQ(list(pods).size(), 2u);
  EXPECT_TRUE(kube::is_controlled_by(get(pods, "lonely"), uid));
  edit(pods, "lonely",
       [](json::value& pod) { make_object(pod, {"metadata", "labels"})["app"] = "other"; });
  settle();
  EXPECT_FALSE(find(get(pods, "lonely"), {"metadata", "ownerReferences"}));
  ASSERT_EQ(list(pods).size(), 3u);  // a new one replaced it
  for (const json::value& pod : list(pods))
    EXPECT_EQ(kube::is_controlled_by(pod, uid), kube::name_of(pod) != "lonely");
}

TEST_F(Workloads, twenty_workers_settle_without_doing_anything_twice) {
  start();
  for (int i = 0; i < 8; ++i) {
    json::value one = deployment(fmt::format("web{}", i), 20);
    for (auto path : {&make_object(one, {"spec", "selector", "matchLabels"}),
                      &make_object(one, {"spec", "template", "metadata", "labels"})})
      (*path)["app"] = fmt::format("web{}", i);
    create(deployments, std::move(one));
  }
  settle();
  EXPECT_EQ(list(pods).size(), 160u);
  run_pods();
  EXPECT_EQ(list(pods).size(), 160u);
  for (const json::value& one : list(deployments))
    EXPECT_EQ(int_at(one, {"status", "availableReplicas"}), 20);
  EXPECT_TRUE(controllers->idle());
}

}  // namespace
}  // namespace plim::local::controllers
