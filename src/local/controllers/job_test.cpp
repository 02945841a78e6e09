// Jobs on a complete API server.
#include <gtest/gtest.h>

#include "local/controllers/conditions.hpp"
#include "local/controllers/job_plan.hpp"
#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers {
namespace {

using kube::resources::events;
using kube::resources::jobs;
using kube::resources::pods;
using testing::job;

class Jobs : public testing::ControllersTest {
 protected:
  std::vector<std::string> pending() {
    std::vector<std::string> out;
    for (const json::value& pod : list(pods))
      if (text_at(pod, {"status", "phase"}) == "Pending") out.emplace_back(kube::name_of(pod));
    return out;
  }

  std::int64_t number(std::string_view field) {
    return int_at(get(jobs, "j"), {"status", field}).value_or(0);
  }

  bool has(std::string_view condition) {
    return has_true_condition(get(jobs, "j").at("status"), condition);
  }
};

TEST_F(Jobs, run_to_completion) {
  start("job");
  create(jobs, job("j", R"({"parallelism":2,"completions":4})"));
  settle();
  int ended = 0;
  for (; ended < 4; ++ended) {
    std::vector<std::string> waiting = pending();
    ASSERT_FALSE(waiting.empty());
    EXPECT_LE(waiting.size(), 2u);
    set_phase(waiting.front(), "Succeeded");
    settle();
  }
  EXPECT_TRUE(has("Complete"));
  EXPECT_EQ(number("succeeded"), 4);
  EXPECT_EQ(list(pods).size(), 4u);
  for (const json::value& pod : list(pods)) EXPECT_FALSE(find(pod, {"metadata", "finalizers"}));
  bool told = false;
  for (const json::value& event : list(events))
    told = told || (text_at(event, {"reason"}) == "Completed" &&
                    text_at(event, {"message"}) == "Job completed");
  EXPECT_TRUE(told);
}

TEST_F(Jobs, back_off_between_failures_and_end_at_the_limit) {
  start("job");
  create(jobs, job("j", R"({"backoffLimit":2})"));
  settle();
  for (std::chrono::seconds wait : {std::chrono::seconds(10), std::chrono::seconds(20)}) {
    ASSERT_EQ(pending().size(), 1u);
    set_phase(pending().front(), "Failed");
    settle();
    pass(wait - std::chrono::seconds(4));
    EXPECT_TRUE(pending().empty());
    pass(std::chrono::seconds(5));
  }
  ASSERT_EQ(pending().size(), 1u);
  set_phase(pending().front(), "Failed");
  settle();
  EXPECT_TRUE(has("Failed"));
  EXPECT_EQ(number("failed"), 3);
}

TEST_F(Jobs, count_each_pod_once_although_the_controller_restarts_all_the_time) {
  start("job");
  create(jobs, job("j", R"({"parallelism":3,"completions":9,"backoffLimit":100})"));
  settle();
  int ended = 0;
  for (int round = 0; round < 30 && !has("Complete"); ++round) {
    for (const std::string& pod : pending()) {
      set_phase(pod, "Succeeded");
      ++ended;
      // Stops the controller at some point while it handles that pod.
      for (int i = 0; i < round % 7; ++i) {
        clock.advance(std::chrono::milliseconds(1));
        loop.run_ready();
      }
      stop();
      start("job");
    }
    settle();
  }
  EXPECT_TRUE(has("Complete"));
  EXPECT_EQ(ended, 9);
  EXPECT_EQ(number("succeeded"), 9);
  EXPECT_EQ(number("failed"), 0);
}

TEST_F(Jobs, remove_the_finalizers_of_their_pods_when_they_are_deleted) {
  start("job");
  create(jobs, job("j", R"({"parallelism":2})"));
  settle();
  EXPECT_EQ(pending().size(), 2u);
  remove(jobs, "j", "Background");
  settle();
  for (const json::value& pod : list(pods)) EXPECT_FALSE(find(pod, {"metadata", "finalizers"}));
}

TEST_F(Jobs, are_deleted_some_time_after_they_have_finished) {
  start("job,ttl-after-finished");
  create(jobs, job("j", R"({"ttlSecondsAfterFinished":60})"));
  settle();
  set_phase(pending().front(), "Succeeded");
  pass(std::chrono::seconds(50));
  EXPECT_TRUE(has("Complete"));
  EXPECT_FALSE(kube::is_being_deleted(get(jobs, "j")));
  pass(std::chrono::seconds(20));
  const json::value left = get(jobs, "j");
  EXPECT_TRUE(left.is_null() || kube::is_being_deleted(left));
}

}  // namespace
}  // namespace plim::local::controllers
