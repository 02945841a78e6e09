#include "local/controllers/pod_scheduler.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"
#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class PodSchedulerTest : public testing::ControllersTest {
 protected:
  PodSchedulerTest() : scheduler_(loop.executor(), client, clock) {
    scheduler_.start();
    settle();
  }

  ~PodSchedulerTest() override { run_to_end(loop, scheduler_.stop()); }

  static json::value object(std::string_view yaml) {
    auto out = parse_yaml(yaml);
    PLIM_ASSERT(out);
    return std::move(*out);
  }

  void add_node(std::string_view name, std::string_view cpu = "2", std::string_view most = "5") {
    create(kube::resources::nodes,
           object(fmt::format("{{metadata: {{name: {0}, labels: {{kubernetes.io/hostname: {0}}}}}, "
                              "status: {{allocatable: {{cpu: '{1}', memory: 4Gi, pods: '{2}'}}}}}}",
                              name, cpu, most)));
    // A new node is tainted until its kubelet reports that it is ready.
    edit(kube::resources::nodes, std::string(name),
         [](json::value& node) { make_object(node, {"spec"}).erase("taints"); });
  }

  void add_pod(std::string_view name, std::string_view more = "{}",
               std::string_view requests = "{}") {
    json::value pod = object(fmt::format(
        "{{metadata: {{name: {}}}, spec: {{containers: [{{name: c, image: i, resources: "
        "{{requests: {}}}}}]}}}}",
        name, requests));
    const json::value extra = object(more);
    for (const auto& [key, value] : extra.as_object()) make_object(pod, {"spec"})[key] = value;
    create(kube::resources::pods, std::move(pod));
  }

  // Time enough for pods that wait to be tried again.
  void look_again() { pass(std::chrono::seconds(1)); }

  std::string node_of(std::string_view pod) {
    return std::string(text_at(get(kube::resources::pods, std::string(pod)), {"spec", "nodeName"}));
  }

  // The PodScheduled condition's message; "" if the pod does not wait.
  std::string why_not(std::string_view pod) {
    const json::value found = get(kube::resources::pods, std::string(pod));
    for (const json::value& one : list_at(found, {"status", "conditions"}))
      if (text_at(one, {"type"}) == "PodScheduled" && text_at(one, {"status"}) == "False")
        return std::string(text_at(one, {"message"}));
    return "";
  }

  std::vector<std::string> events(std::string_view reason) {
    std::vector<std::string> out;
    for (const json::value& event : list(kube::resources::events))
      if (text_at(event, {"reason"}) == reason) out.emplace_back(text_at(event, {"message"}));
    return out;
  }

 private:
  PodScheduler scheduler_;
};

TEST_F(PodSchedulerTest, binds_pods_to_the_emptier_node_and_reports_it) {
  add_node("n1");
  add_pod("a", "{}", "{cpu: '1'}");
  settle();
  add_node("n2");
  add_pod("b", "{}", "{cpu: 100m}");
  settle();
  EXPECT_EQ(node_of("a"), "n1");
  EXPECT_EQ(node_of("b"), "n2");
  EXPECT_THAT(events("Scheduled"), Contains("Successfully assigned default/b to n2"));
}

TEST_F(PodSchedulerTest, says_why_a_pod_waits_until_a_node_takes_it) {
  add_pod("p", "{}", "{cpu: '3'}");
  settle();
  EXPECT_EQ(why_not("p"), "no nodes available to schedule pods");
  add_node("n1");
  look_again();
  EXPECT_EQ(why_not("p"), "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_THAT(events("FailedScheduling"), Contains("0/1 nodes are available: 1 Insufficient cpu."));
  add_node("n2", "4");
  look_again();
  EXPECT_EQ(node_of("p"), "n2");
}

TEST_F(PodSchedulerTest, counts_pods_whose_binding_is_still_being_written) {
  add_node("n1", "2", "1");
  add_pod("a");
  add_pod("b");
  settle();
  EXPECT_NE(node_of("a").empty(), node_of("b").empty());
  const std::string placed = node_of("a").empty() ? "b" : "a", waiting = placed == "a" ? "b" : "a";
  EXPECT_EQ(why_not(waiting), "0/1 nodes are available: 1 Too many pods.");
  kube::DeleteOptions at_once;
  at_once.grace_seconds = 0;  // no kubelet ends pods here
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", placed}, at_once)));
  look_again();
  EXPECT_EQ(node_of(waiting), "n1");
}

TEST_F(PodSchedulerTest, leaves_pods_of_other_schedulers_and_gated_pods_alone) {
  add_node("n1");
  add_pod("other", "{schedulerName: mine}");
  add_pod("gated", "{schedulingGates: [{name: example.com/wait}]}");
  settle();
  EXPECT_EQ(node_of("other"), "");
  EXPECT_EQ(node_of("gated"), "");
  EXPECT_THAT(events("FailedScheduling"), IsEmpty());
  edit(kube::resources::pods, "gated",
       [](json::value& pod) { make_object(pod, {"spec"}).erase("schedulingGates"); });
  settle();
  EXPECT_EQ(node_of("gated"), "n1");
}

TEST_F(PodSchedulerTest, places_a_pod_whose_claim_is_not_bound) {
  add_node("n1");
  add_pod("p", "{volumes: [{name: data, persistentVolumeClaim: {claimName: nowhere}}]}");
  settle();
  EXPECT_EQ(node_of("p"), "n1");
}

TEST_F(PodSchedulerTest, spreads_the_pods_of_one_replica_set) {
  start("replicaset-controller");
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  add_pod("big", "{nodeName: n1}", "{cpu: '1'}");
  settle();
  json::value set = testing::deployment("web", 3);
  create(kube::resources::replica_sets, std::move(set));
  settle();
  std::map<std::string, int> per_node;
  for (const json::value& pod : list(kube::resources::pods))
    if (text_at(pod, {"metadata", "name"}) != "big")
      ++per_node[std::string(text_at(pod, {"spec", "nodeName"}))];
  EXPECT_EQ(per_node, (std::map<std::string, int>{{"n1", 1}, {"n2", 1}, {"n3", 1}}));
}

}  // namespace
}  // namespace plim::local::controllers
