#include "servo/job_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "kube/paths.hpp"
#include "servo/testing/pods.hpp"
#include "servo/testing/script_client.hpp"

namespace plim::servo {
namespace {

using namespace plim::servo::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobWatchTest : public ::testing::Test {
 protected:
  // Plays the script to its end. Reported runs are collected as "uid result".
  std::vector<std::string> follow() {
    auto on_end = [this](loop::RunRecord run) {
      told_.push_back(fmt::format("{} {}", run.uid, name_of(run.result)));
    };
    JobWatch watch(loop_.executor(), client_, "default", rules_, metrics_, on_end, clock_, random_);
    watch.start();
    auto until_the_end = [](ScriptClient& client, FakeClock& clock) -> Task<void> {
      for (int quiet = 0; quiet < 50; quiet = client.is_at_end() ? quiet + 1 : 0) {
        clock.advance_to_next();
        co_await yield_to_loop();
      }
    };
    run_to_end(loop_, until_the_end(*client_, clock_));
    synced_ = watch.synced();
    jobs_ = watch.jobs();
    lists_ = watch.stats().lists;
    not_ready_ = watch.not_ready();
    run_to_end(loop_, watch.stop());
    return told_;
  }

  Loop loop_;
  FakeClock clock_;
  SeededRandom random_{1};
  metrics::Registry registry_;
  Metrics metrics_{registry_};
  JobRules rules_ = default_rules();
  std::shared_ptr<ScriptClient> client_ = std::make_shared<ScriptClient>(loop_.executor());
  std::vector<std::string> told_;
  bool synced_ = false;
  std::size_t jobs_ = 0;
  std::uint64_t lists_ = 0;
  std::string not_ready_;
};

TEST_F(JobWatchTest, reports_pods_that_ended_before_the_watch_started) {
  client_->lists = {list_of({ended_pod("u1", "a"), running_pod("u2", "a")}, "next"),
                    list_of({ended_pod("u3", "a")})};
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u3 completed"));
  EXPECT_TRUE(synced_);
  EXPECT_EQ(jobs_, 3u);
  ASSERT_EQ(client_->list_options.size(), 2u);
  EXPECT_EQ(client_->list_options[0].limit, 500);
  EXPECT_EQ(client_->list_options[0].ns, "default");
  EXPECT_EQ(client_->list_options[0].resource_version_match, "");
  EXPECT_EQ(client_->list_options[1].continue_token, "next");
  ASSERT_FALSE(client_->watch_options.empty());
  EXPECT_TRUE(client_->watch_options[0].bookmarks);
  EXPECT_EQ(client_->watch_options[0].resource_version, "10");
}

TEST_F(JobWatchTest, reports_a_run_when_it_sees_its_end) {
  client_->lists = {list_of({})};
  client_->then_watch(
      {event("ADDED", running_pod("u1", "a")), event("MODIFIED", ended_pod("u1", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed"));
}

TEST_F(JobWatchTest, reports_the_end_that_a_deletion_shows) {
  client_->lists = {list_of({})};
  client_->then_watch(
      {event("ADDED", running_pod("u1", "a")), event("DELETED", ended_pod("u1", "a")),
       event("DELETED", ended_pod("u2", "a")), event("ADDED", running_pod("u3", "a")),
       event("DELETED", running_pod("u3", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u2 completed", "u3 deleted"));
  EXPECT_EQ(jobs_, 0u);
}

TEST_F(JobWatchTest, a_deletion_with_an_older_object_reports_nothing_new) {
  client_->lists = {list_of({ended_pod("u1", "a")})};
  client_->then_watch({event("DELETED", running_pod("u1", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed"));
}

TEST_F(JobWatchTest, pods_that_disappear_between_two_lists_count_as_deleted) {
  client_->lists = {list_of({running_pod("u1", "a"), running_pod("u2", "a"), ended_pod("u3", "a")}),
                    list_of({running_pod("u2", "a")})};
  client_->then_watch({kGone});
  EXPECT_THAT(follow(), ElementsAre("u3 completed", "u1 deleted"));
  EXPECT_EQ(jobs_, 1u);
}

// Each way in which a watch can end; the next watch delivers later events.
TEST_F(JobWatchTest, goes_on_after_every_end_of_a_watch) {
  client_->lists = {list_of({}), list_of({}), list_of({})};
  client_->then_watch({event("ADDED", ended_pod("u1", "a"))});  // EOF
  client_->then_watch({kGone});                                 // ERROR event: lists
  client_->then_watch({event("ADDED", ended_pod("u2", "a"))});
  client_->watches.emplace_back(fail(Code::gone, "410"));  // status: lists
  client_->then_watch({event("ADDED", ended_pod("u3", "a"))});
  client_->watches.emplace_back(fail(Code::internal, "500"));
  client_->then_watch({event("ADDED", ended_pod("u4", "a"))});
  client_->then_break({}, fail(Code::unavailable, "half a line"));
  client_->then_watch({event("ADDED", ended_pod("u5", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u2 completed", "u3 completed", "u4 completed",
                                    "u5 completed"));
  EXPECT_EQ(lists_, 3u);
}

TEST_F(JobWatchTest, names_a_missing_permission_until_it_is_granted) {
  client_->lists = {fail(Code::forbidden, "cannot list pods")};
  EXPECT_THAT(follow(), IsEmpty());
  EXPECT_EQ(not_ready_, "pods of namespace default are not listed yet: cannot list pods");
  client_->lists = {list_of({})};
  client_->watches.emplace_back(fail(Code::forbidden, "cannot watch pods"));
  EXPECT_THAT(follow(), IsEmpty());
  EXPECT_EQ(not_ready_, "pods of namespace default are not watched: cannot watch pods");
  client_->lists = {list_of({}), list_of({ended_pod("u1", "a")})};
  client_->watches.emplace_back(fail(Code::forbidden, "cannot watch pods"));
  client_->then_watch({event("ADDED", ended_pod("u2", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u2 completed"));
  EXPECT_EQ(not_ready_, "");
}

TEST_F(JobWatchTest, a_pod_that_cannot_be_read_is_counted_and_the_rest_goes_on) {
  json::value bare = {{"metadata", {{"name", "x"}, {"namespace", "default"}}}};
  client_->lists = {list_of({bare, ended_pod("u1", "a")})};
  client_->then_watch({event("ADDED", bare), event("ADDED", ended_pod("u2", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u2 completed"));
  EXPECT_GE(metrics_.undecodable.value(), 2u);
  EXPECT_EQ(lists_, 1u);
}

TEST_F(JobWatchTest, an_event_that_cannot_be_read_is_counted_and_the_watch_goes_on) {
  client_->lists = {list_of({})};
  json::value odd = running_pod("u1", "a");
  odd.at("metadata").as_object()["annotations"] = json::array();
  client_->then_watch({"no JSON at all", event("RENAMED", running_pod("u1", "a")),
                       event("MODIFIED", odd), event("ADDED", ended_pod("u2", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u2 completed"));
  EXPECT_EQ(metrics_.undecodable.value(), 3u);
  EXPECT_EQ(lists_, 1u);
}

TEST_F(JobWatchTest, reports_a_finished_job_once_however_often_it_is_seen) {
  const json::value pod = ended_pod("u1", "a");
  client_->lists = {list_of({pod}), list_of({pod})};
  client_->then_watch({event("MODIFIED", pod), event("MODIFIED", pod), kGone});
  client_->then_watch(
      {event("MODIFIED", pod), event("DELETED", pod), event("ADDED", ended_pod("u2", "a"))});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u2 completed"));
  EXPECT_EQ(jobs_, 1u);
}

TEST_F(JobWatchTest, a_service_that_counts_as_a_job_is_never_over) {
  json::value pod = ended_pod("u1", "a");
  pod.at("spec").as_object()["restartPolicy"] = "Always";
  kube::make_object(pod, "Pod.metadata.annotations")["plimsoll.io/job"] = "true";
  client_->lists = {list_of({pod})};
  client_->then_watch({event("MODIFIED", pod)});
  EXPECT_THAT(follow(), ElementsAre("u1 completed", "u1 completed"));
}

TEST_F(JobWatchTest, counts_once_why_a_pod_is_not_a_job) {
  json::value pod = ended_pod("u1", "");
  client_->lists = {list_of({pod})};
  client_->then_watch({event("MODIFIED", pod), event("MODIFIED", pod)});
  EXPECT_THAT(follow(), IsEmpty());
  EXPECT_EQ(registry_
                .counter("plimsoll_servo_appid_misses_total",
                         "Pods that could be jobs but have no usable application ID",
                         {{"reason", "empty"}})
                .value(),
            1u);
}

}  // namespace
}  // namespace plim::servo
