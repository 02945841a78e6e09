#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

class MutatorsTest : public ApiTest {
 protected:
  json::value create(std::string_view path, const json::value& object) {
    auto response = send("POST", path, to_json(object));
    EXPECT_EQ(response.status, 201) << response.body;
    return parsed(response.body);
  }

  static constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
};

TEST_F(MutatorsTest, pods_get_account_token_tolerations_and_priority) {
  const json::value pod = create(kPods, simple_pod("p"));
  EXPECT_EQ(text_at(pod, {"spec", "serviceAccountName"}), "default");
  const json::value& volume = pod.at("spec").at("volumes").at(0);
  const std::string_view name = text_at(volume, {"name"});
  EXPECT_TRUE(name.starts_with("kube-api-access-"));
  EXPECT_EQ(volume.at("projected").at("sources").as_array().size(), 3u);
  const json::value& mount = pod.at("spec").at("containers").at(0).at("volumeMounts").at(0);
  EXPECT_EQ(text_at(mount, {"name"}), name);
  EXPECT_TRUE(bool_at(mount, {"readOnly"}));
  EXPECT_EQ(pod.at("spec").at("tolerations").as_array().size(), 2u);
  EXPECT_EQ(int_at(pod, {"spec", "priority"}), 0);
  EXPECT_EQ(text_at(pod, {"spec", "preemptionPolicy"}), "PreemptLowerPriority");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Pending");
  EXPECT_EQ(text_at(pod, {"status", "qosClass"}), "BestEffort");
}

TEST_F(MutatorsTest, accounts_must_exist_unless_they_are_the_default) {
  json::value pod = simple_pod("p");
  make_object(pod, {"spec"})["serviceAccountName"] = "nope";
  EXPECT_EQ(send("POST", kPods, to_json(pod)).status, 403);
}

TEST_F(MutatorsTest, gated_pods_have_a_reason_for_waiting) {
  json::value pod = simple_pod("p");
  make_object(pod, {"spec"})["schedulingGates"] = json::array{parsed(R"({"name":"a.io/g"})")};
  const json::value made = create(kPods, pod);
  EXPECT_EQ(text_at(made.at("status").at("conditions").at(0), {"reason"}), "SchedulingGated");
}

TEST_F(MutatorsTest, label_keys_are_merged_into_selectors_once) {
  json::value pod = simple_pod("p");
  make_object(pod, {"metadata", "labels"}) = {{"app", "web"}, {"rev", "7"}};
  make_object(pod, {"spec"})["affinity"] = parsed(R"({"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",
        "labelSelector":{"matchLabels":{"app":"web"}},
        "matchLabelKeys":["rev","absent"],"mismatchLabelKeys":["app"]}],
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{
        "topologyKey":"zone","labelSelector":{},"matchLabelKeys":["app"]}}]}})");
  make_object(pod, {"spec"})["topologySpreadConstraints"] = parsed(R"([{"maxSkew":1,
      "topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},
      "matchLabelKeys":["rev"]}])");
  const json::value made = create(kPods, pod);
  const json::value& anti = made.at("spec").at("affinity").at("podAntiAffinity");
  const json::value& term = anti.at("requiredDuringSchedulingIgnoredDuringExecution").at(0);
  EXPECT_EQ(term.at("labelSelector").at("matchExpressions"),
            parsed(R"([{"key":"rev","operator":"In","values":["7"]},
                       {"key":"app","operator":"NotIn","values":["web"]}])"));
  const json::value& preferred = anti.at("preferredDuringSchedulingIgnoredDuringExecution").at(0);
  EXPECT_EQ(preferred.at("podAffinityTerm").at("labelSelector").at("matchExpressions"),
            parsed(R"([{"key":"app","operator":"In","values":["web"]}])"));
  const json::value& spread = made.at("spec").at("topologySpreadConstraints").at(0);
  EXPECT_EQ(spread.at("labelSelector").at("matchExpressions").as_array().size(), 1u);
  // An update does not merge again.
  json::value again = made;
  make_object(again, {"metadata", "labels"})["more"] = "1";
  auto updated = send("PUT", std::string(kPods) + "/p", to_json(again));
  EXPECT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(parsed(updated.body).at("spec"), made.at("spec"));
}

TEST_F(MutatorsTest, a_key_is_either_merged_or_selected) {
  json::value pod = simple_pod("p");
  make_object(pod, {"metadata", "labels"})["app"] = "web";
  make_object(pod, {"spec"})["topologySpreadConstraints"] = parsed(R"([{"maxSkew":1,
      "topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
      "labelSelector":{"matchLabels":{"app":"web"}},"matchLabelKeys":["app"]}])");
  auto refused = send("POST", kPods, to_json(pod));
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find("exists in both matchLabelKeys and labelSelector"),
            std::string::npos);
}

TEST_F(MutatorsTest, accounts_keep_the_names_of_their_secrets) {
  const json::value account =
      create("/api/v1/namespaces/default/serviceaccounts",
             parsed(R"({"metadata":{"name":"a"},"secrets":[{"name":"s","namespace":"other"}]})"));
  EXPECT_EQ(account.at("secrets"), parsed(R"([{"name":"s"}])"));
}

TEST_F(MutatorsTest, tokens_are_not_mounted_if_automount_is_off) {
  json::value pod = simple_pod("p");
  make_object(pod, {"spec"})["automountServiceAccountToken"] = false;
  EXPECT_FALSE(find(create(kPods, pod), {"spec", "volumes"}));
}

TEST_F(MutatorsTest, priority_follows_the_class) {
  json::value pod = simple_pod("p");
  make_object(pod, {"spec"})["priorityClassName"] = "system-node-critical";
  EXPECT_EQ(int_at(create(kPods, pod), {"spec", "priority"}), 2'000'001'000);
  pod = simple_pod("q");
  make_object(pod, {"spec"})["priorityClassName"] = "nope";
  EXPECT_EQ(send("POST", kPods, to_json(pod)).status, 403);
}

TEST_F(MutatorsTest, services_get_an_address_of_their_own) {
  const std::string_view services = "/api/v1/namespaces/default/services";
  auto service = [](std::string_view name) {
    return parsed(
        fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":80}}]}}}})", name));
  };
  json::value a = create(services, service("a"));
  const json::value b = create(services, service("b"));
  EXPECT_TRUE(text_at(a, {"spec", "clusterIP"}).starts_with("127.96."));
  EXPECT_NE(text_at(a, {"spec", "clusterIP"}), text_at(b, {"spec", "clusterIP"}));
  EXPECT_EQ(int_at(a.at("spec").at("ports").at(0), {"targetPort"}), 80);
  json::value headless = service("c");
  make_object(headless, {"spec"})["clusterIP"] = "None";
  EXPECT_EQ(text_at(create(services, headless), {"spec", "clusterIP"}), "None");
  make_object(a, {"spec"}).erase("clusterIP");
  make_object(a, {"spec"}).erase("clusterIPs");
  make_object(a, {"spec"})["sessionAffinity"] = "ClientIP";
  auto updated = send("PUT", std::string(services) + "/a", to_json(a));
  EXPECT_EQ(updated.status, 200) << updated.body;
  EXPECT_TRUE(text_at(parsed(updated.body), {"spec", "clusterIP"}).starts_with("127.96."));
}

TEST_F(MutatorsTest, jobs_select_their_pods_by_uid) {
  const json::value job =
      create("/apis/batch/v1/namespaces/default/jobs",
             parsed(R"({"metadata":{"generateName":"j-"},"spec":{"template":{"spec":{
                 "restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}})"));
  EXPECT_EQ(text_at(job, {"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}),
            kube::uid_of(job));
  EXPECT_EQ(text_at(job, {"spec", "template", "metadata", "labels", "job-name"}),
            kube::name_of(job));
  EXPECT_EQ(kube::label_of(job, "batch.kubernetes.io/job-name"), kube::name_of(job));
}

TEST_F(MutatorsTest, new_nodes_are_not_ready) {
  const json::value node = create(
      "/api/v1/nodes", parsed(R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})"));
  EXPECT_EQ(text_at(node.at("spec").at("taints").at(0), {"key"}), "node.kubernetes.io/not-ready");
  EXPECT_EQ(text_at(node, {"status", "capacity", "cpu"}), "4")
      << "creations of nodes contain a status";
}

}  // namespace
}  // namespace plim::local::apiserver::testing
