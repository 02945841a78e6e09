#include "local/controllers/job_plan.hpp"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"
#include "local/controllers/conditions.hpp"
#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using testing::at;
using testing::object_from;
using testing::pod_from;

// One Job with its pods, and a cluster that carries out the plan.
class JobWorld {
 public:
  explicit JobWorld(std::string_view spec) {
    auto parsed = parse_json(spec);
    PLIM_ASSERT(parsed);
    job_ = {{"metadata", {{"name", "j"}, {"namespace", "ns"}, {"uid", "job"}}}, {"spec", *parsed}};
  }

  JobPlan plan() {
    JobInput input;
    input.job = object_from(job_);
    for (const auto& [uid, pod] : pods_) input.pods.push_back(pod_from(pod));
    input.backoff = backoff_;
    return plan_job(input, now);
  }

  JobPlan step() {
    JobPlan out = plan();
    for (const PodPointer& pod : out.end) remove(pod->meta.uid);
    for (const PodPointer& pod : out.give_up) {
      release(pod->meta.uid);
      remove(pod->meta.uid);
    }
    for (json::value& pod : out.create) {
      const std::string uid = fmt::format("p{:03}", created_++);
      json::object& metadata = make_object(pod, {"metadata"});
      metadata["uid"] = uid;
      metadata["name"] = uid;
      metadata["creationTimestamp"] = format_rfc3339(now);
      pod.as_object()["status"] = {{"phase", "Running"}};
      pods_[uid] = std::move(pod);
    }
    job_.as_object()["status"] = out.status;
    backoff_ = out.backoff;
    for (const PodPointer& pod : out.release) release(pod->meta.uid);
    return out;
  }

  void settle() {
    for (int i = 0; i < 6; ++i) step();
  }

  void end(std::string_view uid, std::string_view phase) {
    json::object terminated{{"finishedAt", format_rfc3339(now)}};
    json::object container{{"name", "c"}, {"state", {{"terminated", terminated}}}};
    pods_.at(std::string(uid)).as_object()["status"] = {
        {"phase", phase}, {"containerStatuses", json::array{container}}};
  }

  // As in the API: an object with a finalizer stays, marked as deleted.
  void remove(const std::string& uid) {
    auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    make_object(found->second, {"metadata"})["deletionTimestamp"] = format_rfc3339(now);
    drop_if_free(uid);
  }

  void forget_memory() { backoff_ = {}; }

  void set_spec(std::string_view field, const json::value& value) {
    make_object(job_, {"spec"})[field] = value;
  }

  std::vector<std::string> running() const {
    std::vector<std::string> out;
    for (const auto& [uid, pod] : pods_)
      if (text_at(pod, {"status", "phase"}) == "Running" && !kube::is_being_deleted(pod))
        out.push_back(uid);
    return out;
  }

  std::int64_t number(std::string_view field) const {
    return int_at(job_, {"status", field}).value_or(0);
  }

  bool has(std::string_view condition) const {
    return has_true_condition(job_.at("status"), condition);
  }

  const json::value& pod(const std::string& uid) const { return pods_.at(uid); }

  const json::value& job() const { return job_; }

  int created() const { return created_; }

  WallTime now = at("2026-01-01T12:00:00Z");

 private:
  void release(const std::string& uid) {
    auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    make_object(found->second, {"metadata"}).erase("finalizers");
    drop_if_free(uid);
  }

  void drop_if_free(const std::string& uid) {
    const json::value& pod = pods_.at(uid);
    if (kube::is_being_deleted(pod) && !find(pod, {"metadata", "finalizers"})) pods_.erase(uid);
  }

  json::value job_;
  std::map<std::string, json::value> pods_;
  JobBackoff backoff_;
  int created_ = 0;
};

TEST(JobPlan, runs_up_to_parallelism_pods_until_enough_have_succeeded) {
  JobWorld world(R"({"parallelism":2,"completions":3,"template":{"spec":{}}})");
  world.settle();
  EXPECT_EQ(world.running().size(), 2u);
  EXPECT_FALSE(text_at(world.job(), {"status", "startTime"}).empty());
  world.end("p000", "Succeeded");
  world.settle();
  EXPECT_EQ(world.running().size(), 2u);
  world.end("p001", "Succeeded");
  world.settle();
  EXPECT_EQ(world.running().size(), 1u);
  world.end("p002", "Succeeded");
  world.settle();
  EXPECT_EQ(world.created(), 3);
  EXPECT_EQ(world.number("succeeded"), 3);
  EXPECT_TRUE(world.has("SuccessCriteriaMet"));
  EXPECT_TRUE(world.has("Complete"));
  EXPECT_FALSE(text_at(world.job(), {"status", "completionTime"}).empty());
}

TEST(JobPlan, writes_the_uid_of_a_pod_before_it_removes_the_finalizer) {
  JobWorld world(R"({"parallelism":1,"completions":2,"template":{"spec":{}}})");
  world.settle();
  EXPECT_EQ(world.pod("p000").at("metadata").at("finalizers").at(0), json::value(kJobFinalizer));
  world.end("p000", "Succeeded");
  JobPlan plan = world.plan();
  EXPECT_EQ(to_json(plan.status.at("uncountedTerminatedPods")), R"({"succeeded":["p000"]})");
  EXPECT_FALSE(find(plan.status, {"succeeded"}));
  ASSERT_EQ(plan.release.size(), 1u);
  world.settle();
  EXPECT_EQ(world.number("succeeded"), 1);
  EXPECT_EQ(to_json(world.job().at("status").at("uncountedTerminatedPods")), "{}");
}

TEST(JobPlan, waits_longer_after_each_failure_and_gives_up_at_the_limit) {
  JobWorld world(R"({"backoffLimit":2,"completions":1,"template":{"spec":{}}})");
  world.settle();
  for (int wait : {10, 20}) {
    world.end(world.running().at(0), "Failed");
    world.settle();
    EXPECT_TRUE(world.running().empty());
    world.now += std::chrono::seconds(wait - 1);
    JobPlan plan = world.step();
    EXPECT_TRUE(plan.create.empty());
    ASSERT_TRUE(plan.look_again);
    EXPECT_EQ(*plan.look_again, world.now + std::chrono::seconds(1));
    world.now += std::chrono::seconds(1);
    world.settle();
    EXPECT_EQ(world.running().size(), 1u);
  }
  world.end(world.running().at(0), "Failed");
  world.settle();
  EXPECT_TRUE(world.has("FailureTarget"));
  EXPECT_TRUE(world.has("Failed"));
  EXPECT_EQ(world.number("failed"), 3);
  EXPECT_EQ(world.created(), 3);
  const json::value condition(*find_condition(world.job().at("status"), "Failed"));
  EXPECT_EQ(text_at(condition, {"reason"}), "BackoffLimitExceeded");
}

TEST(JobPlan, a_deleted_pod_counts_as_failed_and_is_replaced) {
  JobWorld world(R"({"completions":1,"template":{"spec":{}}})");
  world.settle();
  world.remove("p000");
  world.settle();
  EXPECT_EQ(world.number("failed"), 1);
  world.now += std::chrono::seconds(10);
  world.settle();
  EXPECT_EQ(world.running().size(), 1u);
}

TEST(JobPlan, ends_its_pods_at_the_deadline) {
  JobWorld world(R"({"parallelism":3,"completions":9,"activeDeadlineSeconds":60,
                  "template":{"spec":{}}})");
  world.settle();
  world.now += std::chrono::seconds(59);
  world.settle();
  EXPECT_EQ(world.running().size(), 3u);
  world.now += std::chrono::seconds(1);
  world.settle();
  EXPECT_TRUE(world.running().empty());
  EXPECT_TRUE(world.has("Failed"));
  EXPECT_EQ(world.number("failed"), 3);
}

TEST(JobPlan, suspending_ends_pods_without_counting_them) {
  JobWorld world(R"({"parallelism":2,"completions":2,"template":{"spec":{}}})");
  world.settle();
  world.set_spec("suspend", true);
  JobPlan plan = world.step();
  EXPECT_EQ(plan.give_up.size(), 2u);
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, "Suspended");
  world.settle();
  EXPECT_EQ(world.number("failed"), 0);
  EXPECT_TRUE(world.has("Suspended"));
  world.now += std::chrono::seconds(100);
  world.set_spec("suspend", false);
  world.settle();
  EXPECT_FALSE(world.has("Suspended"));
  EXPECT_EQ(world.running().size(), 2u);
  EXPECT_EQ(text_at(world.job(), {"status", "startTime"}), format_rfc3339(world.now));
}

TEST(JobPlan, a_work_queue_is_done_when_all_have_ended_and_one_has_succeeded) {
  JobWorld world(R"({"parallelism":3,"template":{"spec":{}}})");
  world.settle();
  EXPECT_EQ(world.running().size(), 3u);
  world.end("p000", "Succeeded");
  world.settle();
  EXPECT_EQ(world.created(), 3);
  EXPECT_FALSE(world.has("Complete"));
  world.end("p001", "Succeeded");
  world.end("p002", "Succeeded");
  world.settle();
  EXPECT_TRUE(world.has("Complete"));
}

TEST(JobPlan, indexed_pods_know_their_number) {
  JobWorld world(R"({"parallelism":2,"completions":3,"completionMode":"Indexed",
                  "template":{"spec":{"containers":[{"name":"c"}]}}})");
  world.settle();
  const json::value& pod = world.pod("p001");
  EXPECT_EQ(kube::annotation_of(pod, kJobIndex), "1");
  EXPECT_EQ(kube::label_of(pod, kJobIndex), "1");
  EXPECT_EQ(text_at(pod, {"metadata", "generateName"}), "j-1-");
  EXPECT_EQ(text_at(pod, {"spec", "hostname"}), "j-1");
  EXPECT_EQ(text_at(pod.at("spec").at("containers").at(0).at("env").at(0), {"name"}),
            "JOB_COMPLETION_INDEX");
  world.end("p001", "Succeeded");
  world.settle();
  EXPECT_EQ(text_at(world.job(), {"status", "completedIndexes"}), "1");
  EXPECT_EQ(kube::annotation_of(world.pod("p002"), kJobIndex), "2");
  world.end("p000", "Succeeded");
  world.end("p002", "Succeeded");
  world.settle();
  EXPECT_EQ(text_at(world.job(), {"status", "completedIndexes"}), "0-2");
  EXPECT_TRUE(world.has("Complete"));
}

// The controller may restart at any moment; the numbers must still be correct.
RC_GTEST_PROP(JobPlan, counts_every_pod_exactly_once, (std::uint64_t seed)) {
  SeededRandom random(seed);
  const bool indexed = random.below(2) == 0;
  JobWorld world(fmt::format(R"({{"parallelism":{},"completions":{},"backoffLimit":1000,
                               "completionMode":"{}","template":{{"spec":{{}}}}}})",
                             1 + random.below(5), 1 + random.below(8),
                             indexed ? "Indexed" : "NonIndexed"));
  const std::int64_t completions = *int_at(world.job(), {"spec", "completions"});
  const auto parallelism = static_cast<std::size_t>(*int_at(world.job(), {"spec", "parallelism"}));
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    RC_ASSERT(world.running().size() <= parallelism);
    for (const std::string& uid : world.running()) {
      if (random.below(3) == 0) continue;
      const bool good = random.below(3) > 0;
      if (good) ++succeeded;
      if (!good) ++failed;
      if (!good && random.below(2) == 0) {
        world.remove(uid);
      } else {
        world.end(uid, good ? "Succeeded" : "Failed");
      }
    }
    if (random.below(4) == 0) world.forget_memory();
    world.now += std::chrono::seconds(random.below(700));
  }
  for (int i = 0; i < 200 && !world.has("Complete"); ++i) {
    world.step();
    for (const std::string& uid : world.running()) {
      world.end(uid, "Succeeded");
      ++succeeded;
    }
    world.now += std::chrono::seconds(700);
  }
  RC_ASSERT(world.has("Complete"));
  RC_ASSERT(succeeded == completions);
  RC_ASSERT(world.number("succeeded") == completions);
  RC_ASSERT(world.number("failed") == failed);
}

}  // namespace
}  // namespace plim::local::controllers
