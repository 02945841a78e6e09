#include "local/controllers/daemon_set_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodePointer node(std::string_view name, std::string_view more = "{}") {
  auto spec = parse_json(more);
  PLIM_ASSERT(spec);
  kube::InternPool pool;
  std::string text =
      to_json({{"metadata", {{"name", name}, {"labels", {{"disk", name}}}}}, {"spec", *spec}});
  auto made = kube::decode_node(kube::JsonText(text), pool);
  PLIM_ASSERT(made);
  return std::make_shared<const kube::Node>(std::move(*made));
}

class DaemonPlanTest : public ::testing::Test {
 protected:
  DaemonPlanTest() {
    input.daemon_set = testing::object_from_text(
        R"({"metadata":{"name":"d","namespace":"ns","uid":"u","generation":1},
            "spec":{"template":{"spec":{}}}})");
    input.revision_hash = "new";
    for (const char* name : {"n1", "n2", "n3"}) input.nodes.push_back(node(name));
  }

  void set_template(std::string_view spec) {
    json::value changed = input.daemon_set->json;
    make_object(changed, {"spec"})["template"] = {{"spec", *parse_json(spec)}};
    input.daemon_set = testing::object_from(changed);
  }

  void add_pod(std::string_view on, std::string_view hash, std::string_view phase = "Running",
               bool ready = true) {
    json::value pod = daemon_pod(*input.daemon_set, hash, on);
    json::object& metadata = make_object(pod, {"metadata"});
    metadata["name"] = metadata["uid"] = fmt::format("{}-{}", on, input.pods.size());
    make_object(pod, {"spec"})["nodeName"] = on;
    json::object condition{{"type", "Ready"}, {"status", ready ? "True" : "False"}};
    pod.as_object()["status"] = {{"phase", phase}, {"conditions", json::array{condition}}};
    input.pods.push_back(testing::pod_from(pod));
  }

  DaemonPlan plan() { return plan_daemon_set(input, now); }

  std::vector<std::string> removed() {
    std::vector<std::string> out;
    for (const PodPointer& pod : plan().remove) out.push_back(pod->meta.name);
    std::sort(out.begin(), out.end());
    return out;
  }

  DaemonInput input;
  WallTime now = testing::at("2026-01-01T12:00:00Z");
};

TEST_F(DaemonPlanTest, has_one_pod_on_every_node) {
  EXPECT_THAT(plan().create, ElementsAre("n1", "n2", "n3"));
  add_pod("n1", "new");
  add_pod("n2", "new");
  EXPECT_THAT(plan().create, ElementsAre("n3"));
  EXPECT_EQ(int_at(plan().status, {"desiredNumberScheduled"}), 3);
  EXPECT_EQ(int_at(plan().status, {"currentNumberScheduled"}), 2);
  EXPECT_EQ(int_at(plan().status, {"numberUnavailable"}), 1);
}

TEST_F(DaemonPlanTest, its_pods_ask_the_scheduler_for_their_node) {
  const json::value pod = daemon_pod(*input.daemon_set, "h", "n2");
  const json::value term = pod.at("spec")
                               .at("affinity")
                               .at("nodeAffinity")
                               .at("requiredDuringSchedulingIgnoredDuringExecution")
                               .at("nodeSelectorTerms")
                               .at(0);
  EXPECT_EQ(to_json(term),
            R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]})");
  EXPECT_EQ(pod.at("spec").at("tolerations").as_array().size(), 6u);
  EXPECT_EQ(kube::label_of(pod, kRevisionHash), "h");
  EXPECT_EQ(node_of_daemon_pod(*testing::pod_from(pod)), "n2");
}

TEST_F(DaemonPlanTest, follows_selectors_and_taints) {
  set_template(R"({"nodeSelector":{"disk":"n2"}})");
  EXPECT_THAT(plan().create, ElementsAre("n2"));
  set_template("{}");
  input.nodes[0] = node("n1", R"({"taints":[{"key":"own","effect":"NoSchedule"}]})");
  input.nodes[1] = node("n2", R"({"taints":[{"key":"node.kubernetes.io/unschedulable",
                                             "effect":"NoSchedule"}]})");
  EXPECT_THAT(plan().create, ElementsAre("n2", "n3"));
}

TEST_F(DaemonPlanTest, keeps_a_running_pod_when_a_NoSchedule_taint_is_added) {
  add_pod("n1", "new");
  input.nodes = {node("n1", R"({"taints":[{"key":"own","effect":"NoSchedule"}]})")};
  EXPECT_THAT(removed(), IsEmpty());
  EXPECT_EQ(int_at(plan().status, {"numberMisscheduled"}), 1);
  input.nodes = {node("n1", R"({"taints":[{"key":"own","effect":"NoExecute"}]})")};
  EXPECT_THAT(removed(), ElementsAre("n1-0"));
}

TEST_F(DaemonPlanTest, replaces_failed_pods_after_a_pause) {
  add_pod("n1", "new", "Failed");
  input.nodes.resize(1);
  input.retry_from["n1"] = now + std::chrono::seconds(5);
  EXPECT_THAT(removed(), IsEmpty());
  EXPECT_EQ(plan().look_again, now + std::chrono::seconds(5));
  now += std::chrono::seconds(5);
  EXPECT_THAT(removed(), ElementsAre("n1-0"));
}

TEST_F(DaemonPlanTest, deletes_duplicate_pods) {
  add_pod("n1", "new");
  add_pod("n1", "new");
  EXPECT_EQ(removed().size(), 1u);
}

TEST_F(DaemonPlanTest, updates_one_node_after_another) {
  for (const char* name : {"n1", "n2", "n3"}) add_pod(name, "old");
  EXPECT_EQ(removed().size(), 1u);
  input.pods.erase(input.pods.begin());  // gone, not yet replaced
  EXPECT_THAT(plan().create, ElementsAre("n1"));
  EXPECT_THAT(removed(), IsEmpty());
  add_pod("n1", "new", "Running", false);
  EXPECT_THAT(removed(), IsEmpty());
  input.pods.pop_back();
  add_pod("n1", "new");
  EXPECT_EQ(removed().size(), 1u);
  EXPECT_EQ(int_at(plan().status, {"updatedNumberScheduled"}), 1);
}

TEST_F(DaemonPlanTest, with_surge_the_successor_starts_before_the_old_pod_is_deleted) {
  json::value changed = input.daemon_set->json;
  make_object(changed, {"spec", "updateStrategy", "rollingUpdate"}) = {{"maxSurge", 1},
                                                                       {"maxUnavailable", 0}};
  input.daemon_set = testing::object_from(changed);
  for (const char* name : {"n1", "n2", "n3"}) add_pod(name, "old");
  EXPECT_EQ(plan().create.size(), 1u);
  EXPECT_THAT(removed(), IsEmpty());
  add_pod("n1", "new", "Running", false);
  EXPECT_THAT(plan().create, IsEmpty());
  EXPECT_THAT(removed(), IsEmpty());
  input.pods.pop_back();
  add_pod("n1", "new");
  EXPECT_THAT(removed(), ElementsAre("n1-0"));
  EXPECT_THAT(plan().create, ElementsAre("n2"));
}

TEST_F(DaemonPlanTest, replaces_old_pods_that_are_not_available_at_once) {
  add_pod("n1", "old", "Running", false);
  add_pod("n2", "old", "Running", false);
  add_pod("n3", "old");
  EXPECT_THAT(removed(), ElementsAre("n1-0", "n2-1"));
}

}  // namespace
}  // namespace plim::local::controllers
