#include "local/controllers/replica_set_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/controllers/pod_questions.hpp"
#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using testing::at;
using testing::object_from;
using testing::object_from_text;
using testing::pod_from;

const WallTime kJudged = at("2026-01-01T12:00:00Z");

struct PodSketch {
  std::string name;
  std::string node = "n1";
  std::string phase = "Running";
  bool ready = true;
  std::string ready_since = "2026-01-01T11:00:00Z";
  std::string created = "2026-01-01T10:00:00Z";
  std::string cost = {};
  int restarts = 0;
};

PodPointer sketch(const PodSketch& pod) {
  json::object annotations;
  if (!pod.cost.empty()) annotations["controller.kubernetes.io/pod-deletion-cost"] = pod.cost;
  json::object ready{{"type", "Ready"},
                     {"status", pod.ready ? "True" : "False"},
                     {"lastTransitionTime", pod.ready_since}};
  json::object container{{"name", "c"}, {"restartCount", pod.restarts}};
  return pod_from({{"metadata",
                    {{"name", pod.name},
                     {"uid", pod.name},
                     {"creationTimestamp", pod.created},
                     {"labels", {{"app", "web"}}},
                     {"annotations", annotations}}},
                   {"spec", {{"nodeName", pod.node}}},
                   {"status",
                    {{"phase", pod.phase},
                     {"conditions", json::array{ready}},
                     {"containerStatuses", json::array{container}}}}});
}

std::string first_to_go(const PodSketch& a, const PodSketch& b,
                        const std::vector<PodPointer>& related = {}) {
  std::vector<PodPointer> both{sketch(a), sketch(b)};
  ReplicaPlan plan = plan_replicas(1, both, related.empty() ? both : related, kJudged);
  EXPECT_EQ(plan.remove.size(), 1u);
  return plan.remove.at(0)->meta.name;
}

TEST(ReplicaPlan, creates_missing_pods_and_deletes_surplus_pods) {
  std::vector<PodPointer> two{sketch({.name = "a"}), sketch({.name = "b"})};
  EXPECT_EQ(plan_replicas(5, two, two, kJudged).create, 3u);
  EXPECT_EQ(plan_replicas(2, two, two, kJudged).create, 0u);
  EXPECT_TRUE(plan_replicas(2, two, two, kJudged).remove.empty());
  EXPECT_EQ(plan_replicas(0, two, two, kJudged).remove.size(), 2u);
  EXPECT_EQ(plan_replicas(-1, two, two, kJudged).remove.size(), 2u);
}

TEST(ReplicaPlan, limits_the_pods_created_at_once) {
  EXPECT_EQ(plan_replicas(5000, {}, {}, kJudged).create, kReplicaBurst);
}

TEST(ReplicaPlan, deletes_the_least_useful_first) {
  const PodSketch good{.name = "good"};
  EXPECT_EQ(first_to_go(good, {.name = "bad", .node = ""}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .phase = "Pending"}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .ready = false}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .cost = "-1"}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .ready_since = "2026-01-01T11:59:00Z"}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .restarts = 2}), "bad");
  EXPECT_EQ(first_to_go(good, {.name = "bad", .created = "2026-01-01T11:58:00Z"}), "bad");
}

TEST(ReplicaPlan, earlier_criteria_take_precedence) {
  EXPECT_EQ(first_to_go({.name = "a", .node = "", .cost = "100"}, {.name = "b", .ready = false}),
            "a");
}

TEST(ReplicaPlan, keeps_the_pod_that_is_alone_on_its_node) {
  const PodSketch crowded{.name = "crowded", .node = "n1"};
  const PodSketch alone{.name = "alone", .node = "n2"};
  std::vector<PodPointer> related{sketch(crowded), sketch(alone),
                                  sketch({.name = "other", .node = "n1"})};
  EXPECT_EQ(first_to_go(alone, crowded, related), "crowded");
}

RC_GTEST_PROP(ReplicaPlan, always_moves_towards_the_wanted_number,
              (std::uint8_t wanted, std::vector<std::uint8_t> kinds)) {
  std::vector<PodPointer> all;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    all.push_back(sketch({.name = fmt::format("p{}", i),
                          .node = kinds[i] % 2 ? "n1" : "",
                          .phase = kinds[i] % 3 ? "Running" : "Pending",
                          .ready = kinds[i] % 5 != 0,
                          .restarts = kinds[i] % 7}));
  const ReplicaPlan plan = plan_replicas(wanted, all, all, kJudged);
  RC_ASSERT(all.size() + plan.create - plan.remove.size() == wanted);
  RC_ASSERT(plan.create == 0 || plan.remove.empty());
  // Every pod that stays is at least as useful as every deleted one.
  const DeletionOrder order(all, kJudged);
  for (const PodPointer& pod : all) {
    if (std::find(plan.remove.begin(), plan.remove.end(), pod) != plan.remove.end()) continue;
    for (const PodPointer& gone : plan.remove) RC_ASSERT(!order(pod, gone));
  }
}

TEST(ReplicaCounts, distinguish_ready_available_and_fully_labeled) {
  auto set = object_from_text(R"({"spec":{"minReadySeconds":60,"template":{"metadata":
      {"labels":{"app":"web"}}}}})");
  auto fresh = sketch({.name = "fresh", .ready_since = "2026-01-01T11:59:30Z"});
  auto counts = count_replicas(
      set->json, {sketch({.name = "old"}), fresh, sketch({.name = "x", .ready = false})}, kJudged);
  EXPECT_EQ(counts.replicas, 3);
  EXPECT_EQ(counts.fully_labeled, 3);
  EXPECT_EQ(counts.ready, 2);
  EXPECT_EQ(counts.available, 1);
  EXPECT_EQ(counts.next_available, at("2026-01-01T12:00:30Z"));
}

TEST(ReplicaSetStatus, has_a_failure_condition_until_the_error_is_gone) {
  auto set = object_from_text(R"({"metadata":{"generation":2},"spec":{"replicas":3},"status":{}})");
  const Error quota = fail(Code::forbidden, "exceeded quota");
  json::value troubled = replica_set_status(*set, {.replicas = 1}, quota, kJudged);
  EXPECT_EQ(
      troubled,
      json::parse(R"({"replicas":1,"terminatingReplicas":0,"observedGeneration":2,"conditions":[{
      "type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota",
      "lastTransitionTime":"2026-01-01T12:00:00Z"}]})"));
  json::value again = set->json;
  again.as_object()["status"] = troubled;
  auto after = replica_set_status(*object_from(again), {.replicas = 3}, std::nullopt, kJudged);
  EXPECT_EQ(after, json::parse(R"({"replicas":3,"terminatingReplicas":0,"observedGeneration":2})"));
}

}  // namespace
}  // namespace plim::local::controllers
