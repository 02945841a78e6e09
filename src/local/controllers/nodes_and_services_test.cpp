// Nodes, Services and budgets on a complete API server.
#include <gtest/gtest.h>

#include "local/controllers/conditions.hpp"
#include "local/controllers/endpoints_plan.hpp"
#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using kube::resources::daemon_sets;
using kube::resources::deployments;
using kube::resources::endpoints;
using kube::resources::leases;
using kube::resources::nodes;
using kube::resources::pods;
using kube::resources::services;
using testing::deployment;

class NodesAndServices : public testing::ControllersTest {
 protected:
  void add_node(std::string name) {
    json::object ready{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}};
    create(nodes,
           {{"metadata", {{"name", name}}}, {"status", {{"conditions", json::array{ready}}}}});
    create(leases, {{"metadata", {{"name", name}}}, {"spec", {{"holderIdentity", name}}}},
           "kube-node-lease");
    settle();
  }

  void renew(const std::string& name) {
    edit(
        leases, name,
        [&](json::value& lease) {
          make_object(lease, {"spec"})["renewTime"] = format_rfc3339_micro(clock.wall());
        },
        "", "kube-node-lease");
  }

  std::string taints(const std::string& node) {
    std::string out;
    const json::value object = get(nodes, node);
    for (const json::value& taint : list_at(object, {"spec", "taints"}))
      out += fmt::format("{}:{} ", text_at(taint, {"key"}), text_at(taint, {"effect"}));
    return out;
  }

  void place(const std::string& pod, const std::string& node, std::string_view ip) {
    edit(pods, pod, [&](json::value& object) { make_object(object, {"spec"})["nodeName"] = node; });
    set_phase(pod, "Running");
    edit(
        pods, pod, [&](json::value& object) { make_object(object, {"status"})["podIP"] = ip; },
        "status");
  }
};

ControllersOptions quick() {
  ControllersOptions options;
  options.node_grace_period = std::chrono::seconds(2);
  return options;
}

TEST_F(NodesAndServices, a_silent_node_is_tainted_until_it_reports_again) {
  start("nodelifecycle,taint-eviction", quick());
  add_node("n1");
  EXPECT_EQ(taints("n1"), "");
  for (int i = 0; i < 5; ++i) {
    renew("n1");
    pass(std::chrono::seconds(1));
  }
  EXPECT_EQ(taints("n1"), "");
  pass(std::chrono::seconds(3));
  EXPECT_EQ(taints("n1"),
            "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute ");
  edit(
      nodes, "n1",
      [](json::value& node) {
        for (json::value& condition : node.at("status").at("conditions").as_array())
          condition.as_object()["status"] =
              text_at(condition, {"type"}) == "Ready" ? "True" : "False";
      },
      "status");
  renew("n1");
  settle();
  EXPECT_EQ(taints("n1"), "");
}

TEST_F(NodesAndServices, pods_are_evicted_when_their_toleration_ends) {
  start("nodelifecycle,taint-eviction", quick());
  add_node("n1");
  json::value pod = apiserver::testing::simple_pod("patient");
  json::object toleration{{"key", "node.kubernetes.io/unreachable"},
                          {"operator", "Exists"},
                          {"effect", "NoExecute"},
                          {"tolerationSeconds", 10}};
  json::object not_ready = toleration;
  not_ready["key"] = "node.kubernetes.io/not-ready";
  json::object& spec = make_object(pod, {"spec"});
  spec["nodeName"] = "n1";
  spec["tolerations"] = json::array{toleration, not_ready};
  create(pods, std::move(pod));
  set_phase("patient", "Running");
  pass(std::chrono::seconds(8));
  EXPECT_FALSE(kube::is_being_deleted(get(pods, "patient")));
  const json::value status = get(pods, "patient").at("status");
  EXPECT_FALSE(has_true_condition(status, "Ready"));
  pass(std::chrono::seconds(8));
  EXPECT_TRUE(kube::is_being_deleted(get(pods, "patient")));
}

TEST_F(NodesAndServices, pods_of_a_deleted_node_are_deleted) {
  start("pod-garbage-collector-controller");
  add_node("n1");
  json::value pod = apiserver::testing::simple_pod("lost");
  make_object(pod, {"spec"})["nodeName"] = "n1";
  create(pods, std::move(pod));
  pass(std::chrono::seconds(60));
  EXPECT_TRUE(get(pods, "lost").is_object());
  remove(nodes, "n1");
  pass(std::chrono::seconds(90));
  EXPECT_TRUE(get(pods, "lost").is_null());
}

TEST_F(NodesAndServices, a_daemon_set_follows_the_nodes) {
  start("daemonset,nodelifecycle");
  add_node("n1");
  json::value set = deployment("agent", 0);
  make_object(set, {"spec"}).erase("replicas");
  create(daemon_sets, std::move(set));
  settle();
  EXPECT_EQ(list(pods).size(), 1u);
  add_node("n2");
  EXPECT_EQ(list(pods).size(), 2u);
  run_pods();
  const json::value status = get(daemon_sets, "agent").at("status");
  EXPECT_EQ(int_at(status, {"desiredNumberScheduled"}), 2);
  EXPECT_EQ(int_at(status, {"numberAvailable"}), 2);
  EXPECT_EQ(list(kinds::controller_revisions).size(), 1u);
  edit(daemon_sets, "agent", [](json::value& object) {
    make_object(object, {"spec"})["template"] = testing::pod_template("app:2");
  });
  for (int i = 0; i < 6; ++i) {
    settle();
    run_pods();
  }
  for (const json::value& pod : list(pods))
    EXPECT_EQ(text_at(pod.at("spec").at("containers").at(0), {"image"}), "app:2");
  EXPECT_EQ(list(kinds::controller_revisions).size(), 2u);
}

TEST_F(NodesAndServices, the_addresses_of_a_service_follow_its_pods) {
  start("endpoints,endpointslice");
  json::object port{{"port", 80}, {"targetPort", 8080}};
  create(services, {{"metadata", {{"name", "web"}}},
                    {"spec", {{"selector", {{"app", "web"}}}, {"ports", json::array{port}}}}});
  json::value pod = apiserver::testing::simple_pod("p1");
  make_object(pod, {"metadata"})["labels"] = {{"app", "web"}};
  make_object(pod, {"spec"})["nodeName"] = "n1";
  create(pods, std::move(pod));
  set_phase("p1", "Running");
  edit(
      pods, "p1",
      [](json::value& object) { make_object(object, {"status"})["podIP"] = "127.32.1.2"; },
      "status");
  settle();
  const json::value made = get(endpoints, "web");
  ASSERT_TRUE(find(made, {"subsets"})) << to_json(made);
  EXPECT_EQ(text_at(made.at("subsets").at(0).at("addresses").at(0), {"ip"}), "127.32.1.2");
  EXPECT_EQ(made.at("subsets").at(0).at("ports").at(0).at("port"), json::value(8080));
  std::vector<json::value> slices = list(kinds::endpoint_slices);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_TRUE(kube::name_of(slices[0]).starts_with("web-"));
  EXPECT_EQ(kube::label_of(slices[0], kServiceName), "web");
  set_phase("p1", "Succeeded");
  settle();
  EXPECT_FALSE(find(get(endpoints, "web"), {"subsets"}));
  remove(services, "web");
  settle();
  EXPECT_TRUE(get(endpoints, "web").is_null());
}

TEST_F(NodesAndServices, a_budget_counts_the_allowed_disruptions) {
  start("deployment,replicaset,disruption");
  create(deployments, deployment("web", 3));
  create(kinds::pod_disruption_budgets,
         {{"metadata", {{"name", "b"}}},
          {"spec", {{"maxUnavailable", 1}, {"selector", {{"matchLabels", {{"app", "web"}}}}}}}});
  settle();
  auto allowed = [&] {
    return int_at(get(kinds::pod_disruption_budgets, "b"), {"status", "disruptionsAllowed"});
  };
  EXPECT_EQ(allowed(), 0);
  run_pods();
  EXPECT_EQ(allowed(), 1);
  EXPECT_EQ(int_at(get(kinds::pod_disruption_budgets, "b"), {"status", "expectedPods"}), 3);
}

}  // namespace
}  // namespace plim::local::controllers
