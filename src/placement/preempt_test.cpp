#include "placement/preempt.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::decide_all;
using ::testing::ElementsAre;
using testing::node_of;
using testing::plain_node;
using testing::pod_of;

struct Made {
  std::string name;
  int priority = 0;
  std::string cpu = "4";
  std::string labels = "{}";
  std::string started = "'2026-01-01T00:00:00Z'";
  std::string more = "";
};

PodPointer make(const Made& pod) {
  return pod_of(
      fmt::format("{{metadata: {{name: {}, labels: {}}}, spec: {{priority: {}, {} containers: "
                  "[{{name: c, resources: "
                  "{{requests: {{cpu: {}}}}}}}]}}, status: {{startTime: {}}}}}",
                  pod.name, pod.labels, pod.priority, pod.more, pod.cpu, pod.started));
}

PodPointer urgent(std::string more = "") {
  return make({.name = "urgent", .priority = 1000, .more = std::move(more)});
}

class PreemptTest : public ::testing::Test {
 protected:
  PreemptTest() {
    for (auto name : {"a", "b", "c"}) engine_.set_node(plain_node(name));
  }

  Preemption preempt(const PodPointer& pod, std::vector<DisruptionBudget> budgets = {}) {
    Profile profile = default_profile();
    auto decision = decide_all(engine_, pod, profile);
    EXPECT_EQ(decision.outcome, Decision::Outcome::unschedulable);
    return engine_.preempt(*pod, profile, decision, budgets, {});
  }

  std::string chosen(const Preemption& made) const {
    return made.best ? made.candidates[*made.best].node : made.message;
  }

  std::vector<std::string> victims(const Preemption& made) const {
    std::vector<std::string> out;
    if (made.best)
      for (const PodPointer& one : made.candidates[*made.best].victims)
        out.push_back(one->meta.name);
    return out;
  }

  Engine engine_;
};

TEST_F(PreemptTest, first_the_fewest_budget_violations) {
  engine_.set_pod(make({.name = "guarded", .priority = 1, .labels = "{app: db}"}), "a");
  engine_.set_pod(make({.name = "guarded", .priority = 1, .labels = "{app: db}"}), "b");
  engine_.set_pod(make({.name = "free", .priority = 500}), "c");
  DisruptionBudget budget{"default", "db", *kube::LabelSelector::parse("app=db"), 0, {}};
  auto made = preempt(urgent(), {budget});
  EXPECT_EQ(chosen(made), "c");
  EXPECT_EQ(made.candidates.size(), 3u);
  budget.allowed = 1;
  EXPECT_EQ(chosen(preempt(urgent(), {budget})), "a");
  budget.allowed = 0;
  budget.disrupted = {"guarded"};
  EXPECT_EQ(chosen(preempt(urgent(), {budget})), "a");
}

TEST_F(PreemptTest, then_the_lowest_highest_priority) {
  engine_.set_pod(make({.name = "x", .priority = 30}), "a");
  engine_.set_pod(make({.name = "x", .priority = 10, .cpu = "2"}), "b");
  engine_.set_pod(make({.name = "x", .priority = 10, .cpu = "2"}), "b");
  engine_.set_pod(make({.name = "x", .priority = 20}), "c");
  EXPECT_EQ(chosen(preempt(urgent())), "b");
}

TEST_F(PreemptTest, then_the_smallest_sum_of_priorities) {
  for (auto [node, second] : {std::pair("a", 9), {"b", 3}, {"c", 5}}) {
    engine_.set_pod(make({.name = "x", .priority = 10, .cpu = "2"}), node);
    engine_.set_pod(make({.name = "x", .priority = second, .cpu = "2"}), node);
  }
  EXPECT_EQ(chosen(preempt(urgent())), "b");
}

TEST_F(PreemptTest, then_the_fewest_victims) {
  // The sums are equal only if priorities make up for the number: 2^31 more for one pod less.
  engine_.set_pod(make({.name = "x", .priority = -2147483648, .cpu = "2"}), "a");
  engine_.set_pod(make({.name = "x", .priority = 0, .cpu = "2"}), "a");
  engine_.set_pod(make({.name = "x", .priority = 0}), "b");
  engine_.set_pod(make({.name = "x", .priority = 7}), "c");
  EXPECT_EQ(chosen(preempt(urgent())), "b");
}

TEST_F(PreemptTest, then_the_latest_start_of_the_most_important) {
  engine_.set_pod(make({.name = "x", .started = "'2026-01-01T00:00:00Z'"}), "a");
  engine_.set_pod(make({.name = "x", .started = "'2026-01-02T00:00:00Z'"}), "b");
  engine_.set_pod(make({.name = "x", .started = "'2026-01-03T00:00:00Z'"}), "c");
  EXPECT_EQ(chosen(preempt(urgent())), "c");
}

TEST_F(PreemptTest, keeps_the_most_important_pods_that_can_stay) {
  for (auto name : {"b", "c"}) engine_.remove_node(name);
  engine_.set_pod(make({.name = "low", .priority = 1, .cpu = "1"}), "a");
  engine_.set_pod(make({.name = "mid", .priority = 5, .cpu = "2"}), "a");
  engine_.set_pod(
      make({.name = "old", .priority = 1, .cpu = "1", .started = "'2025-01-01T00:00:00Z'"}), "a");
  auto pod = make({.name = "u", .priority = 10, .cpu = "1"});
  EXPECT_THAT(victims(preempt(pod)), ElementsAre("low"));
  pod = make({.name = "u", .priority = 10, .cpu = "3"});
  EXPECT_THAT(victims(preempt(pod)), ElementsAre("mid", "low"));
  // The attempt has not changed the tables.
  EXPECT_EQ(decide_all(engine_, pod, default_profile()).message,
            "0/1 nodes are available: 1 Insufficient cpu.");
}

TEST_F(PreemptTest, says_why_removing_pods_does_not_help) {
  engine_.set_node(
      node_of("{metadata: {name: t}, spec: {taints: [{key: k, effect: NoSchedule}]}}"));
  for (auto name : {"a", "b", "c"}) engine_.set_pod(make({.name = "x", .priority = 1000}), name);
  auto made = preempt(urgent());
  EXPECT_EQ(made.message,
            "preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No "
            "preemption victims found for incoming pod.");
  EXPECT_TRUE(made.clear_nomination);
}

TEST_F(PreemptTest, says_why_a_pod_may_not_preempt) {
  for (auto name : {"a", "b", "c"}) engine_.set_pod(make({.name = "x"}), name);
  EXPECT_EQ(preempt(urgent("preemptionPolicy: Never,")).message,
            "preemption: not eligible due to preemptionPolicy=Never.");
  engine_.set_pod(
      pod_of("{metadata: {name: leaving, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: "
             "{priority: 1, containers: [{name: c}]}, status: {conditions: [{type: "
             "DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]}}"),
      "b");
  auto waiting = pod_of(
      "{metadata: {name: w}, spec: {priority: 9, containers: [{name: c, resources: "
      "{requests: {cpu: 4}}}]}, status: {nominatedNodeName: b}}");
  EXPECT_EQ(preempt(waiting).message,
            "preemption: not eligible due to a terminating pod on the nominated node.");
}

TEST_F(PreemptTest, a_nomination_that_the_status_does_not_show_yet_counts) {
  for (auto name : {"a", "b", "c"}) engine_.set_pod(make({.name = "x"}), name);
  auto pod = urgent();
  EXPECT_EQ(chosen(preempt(pod)), "a");
  engine_.nominate(pod, "b");
  engine_.set_pod(
      pod_of("{metadata: {name: leaving, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: "
             "{containers: [{name: c}]}, status: {conditions: [{type: DisruptionTarget, status: "
             "'True', reason: PreemptionByScheduler}]}}"),
      "b");
  EXPECT_EQ(preempt(pod).message,
            "preemption: not eligible due to a terminating pod on the nominated node.");
}

TEST_F(PreemptTest, less_important_pods_lose_their_nominations) {
  engine_.nominate(make({.name = "less", .priority = 999}), "a");
  engine_.nominate(make({.name = "equal", .priority = 1000}), "a");
  engine_.nominate(make({.name = "elsewhere", .priority = 1}), "b");
  auto found = nominated_below(engine_, *urgent(), "a");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->meta.name, "less");
  EXPECT_TRUE(nominated_below(engine_, *urgent(), "none").empty());
}

TEST_F(PreemptTest, removes_the_pods_that_cause_anti_affinity) {
  for (auto name : {"b", "c"}) engine_.remove_node(name);
  engine_.set_node(plain_node("a", "{host: a}"));
  engine_.set_pod(make({.name = "noisy", .priority = 1, .cpu = "1", .labels = "{app: noisy}"}),
                  "a");
  engine_.set_pod(make({.name = "quiet", .priority = 1, .cpu = "1", .labels = "{app: quiet}"}),
                  "a");
  auto pod = pod_of(
      "{metadata: {name: u}, spec: {priority: 9, containers: [{name: c}], affinity: "
      "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
      "{matchLabels: {app: noisy}}, topologyKey: host}]}}}}");
  EXPECT_THAT(victims(preempt(pod)), ElementsAre("noisy"));
}

TEST_F(PreemptTest, removes_pods_of_the_domain_to_reduce_skew) {
  engine_.set_node(plain_node("a", "{zone: a}"));
  engine_.set_node(plain_node("b", "{zone: b}"));
  engine_.remove_node("c");
  for (int i = 0; i < 2; ++i)
    engine_.set_pod(
        make({.name = fmt::format("w{}", i), .priority = i, .cpu = "1", .labels = "{app: web}"}),
        "a");
  engine_.set_pod(make({.name = "full", .priority = 5000}), "b");
  auto pod = pod_of(
      "{metadata: {name: u, labels: {app: web}}, spec: {priority: 9, containers: [{name: c, "
      "resources: {requests: {cpu: 1}}}], topologySpreadConstraints: [{maxSkew: 2, "
      "topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
      "{app: web}}}]}}");
  auto made = preempt(pod);
  EXPECT_EQ(chosen(made), "a");
  EXPECT_THAT(victims(made), ElementsAre("w0"));
}

}  // namespace
}  // namespace plim::placement
