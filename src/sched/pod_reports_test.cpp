#include "sched/pod_reports.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/event.hpp"
#include "base/loop.hpp"
#include "kube/paths.hpp"
#include "kube/testing/stub_client.hpp"
#include "placement/testing/objects.hpp"

namespace plim::sched {
namespace {

// Takes patches when it is told to.
class SlowApi : public plim::testing::StubClient {
 public:
  explicit SlowApi(const Executor& loop) : open_(loop) {}

  Answer<json::value> patch(Resource, Path, kube::PatchType, json::value body,
                            kube::WriteOptions) override {
    return take(std::move(body));
  }

  void let_through() {
    is_open_ = true;
    open_.notify();
  }

  int waiting = 0;
  std::vector<std::string> messages, nominations, times;

 private:
  Answer<json::value> take(json::value body) {
    ++waiting;
    while (!is_open_) co_await open_.wait();
    --waiting;
    const json::value& condition = body.at("status").at("conditions").at(0);
    messages.emplace_back(condition.at("message").as_string());
    times.emplace_back(condition.at("lastTransitionTime").as_string());
    nominations.emplace_back(kube::text_at(body, "Pod.status.nominatedNodeName"));
    co_return json::value();
  }

  Event open_;
  bool is_open_ = false;
};

class PodReportsTest : public ::testing::Test {
 protected:
  void fail_pod(const PodPointer& pod, std::string message,
                PodReports::Nomination nomination = std::nullopt) {
    reports_.failed(pod, "default-scheduler", "Unschedulable", std::move(message),
                    std::move(nomination));
    loop_.run_ready();
  }

  ~PodReportsTest() override { run_to_end(loop_, reports_.stop()); }

  Loop loop_;
  FakeClock clock_;
  std::shared_ptr<SlowApi> api_ = std::make_shared<SlowApi>(loop_.executor());
  EventWriter events_{loop_.executor(), api_, "host", clock_};
  kube::Store<kube::Pod> pods_;
  PodReports reports_{loop_.executor(), api_, events_, pods_, clock_};
};

TEST_F(PodReportsTest, one_write_waits_for_each_pod_however_often_it_fails) {
  const PodPointer a = placement::testing::plain_pod("a"), b = placement::testing::plain_pod("b");
  for (int i = 0; i < 100; ++i) {
    fail_pod(a, "no room " + std::to_string(i));
    fail_pod(b, "no room");
  }
  EXPECT_EQ(api_->waiting, 2);
  api_->let_through();
  loop_.run_ready();
  std::ranges::sort(api_->messages);
  EXPECT_EQ(api_->messages, (std::vector<std::string>{"no room", "no room 0", "no room 99"}));
}

TEST_F(PodReportsTest, many_conditions_are_written_a_few_at_a_time) {
  std::vector<PodPointer> pods;
  for (int i = 0; i < 3000; ++i)
    pods.push_back(placement::testing::plain_pod("p" + std::to_string(i)));
  for (const PodPointer& pod : pods) fail_pod(pod, "no room");
  EXPECT_EQ(api_->waiting, 16);
  for (const PodPointer& pod : pods) fail_pod(pod, "no room at all");  // before their turn has come
  EXPECT_EQ(api_->waiting, 16);
  api_->let_through();
  loop_.run_ready();
  EXPECT_EQ(api_->waiting, 0);
  EXPECT_EQ(std::ranges::count(api_->messages, "no room at all"), 3000);
  EXPECT_EQ(std::ranges::count(api_->messages, "no room"), 16);
}

TEST_F(PodReportsTest, another_reason_keeps_the_transition_time) {
  const PodPointer pod = placement::testing::pod_of(
      "{metadata: {name: a}, spec: {containers: [{name: c}]}, status: {conditions: [{type: "
      "PodScheduled, status: 'False', reason: Unschedulable, message: first, lastTransitionTime: "
      "'2026-01-02T03:04:05Z'}]}}");
  api_->let_through();
  fail_pod(pod, "first");
  EXPECT_TRUE(api_->messages.empty()) << "it says so already";
  fail_pod(pod, "second");
  EXPECT_EQ(api_->times, (std::vector<std::string>{"2026-01-02T03:04:05Z"}));
}

TEST_F(PodReportsTest, a_nomination_is_not_lost_to_a_later_reason) {
  const PodPointer pod = placement::testing::plain_pod("a");
  fail_pod(pod, "first");
  fail_pod(pod, "second", "node-1");
  fail_pod(pod, "third");
  api_->let_through();
  loop_.run_ready();
  EXPECT_EQ(api_->messages, (std::vector<std::string>{"first", "third"}));
  EXPECT_EQ(api_->nominations, (std::vector<std::string>{"", "node-1"}));
  fail_pod(pod, "fourth");
  EXPECT_EQ(api_->messages.back(), "fourth");
}

TEST_F(PodReportsTest, removes_a_nomination_only_if_there_is_one) {
  const auto waiting = [](std::string_view nominated) {
    return placement::testing::pod_of(
        "{metadata: {name: a}, spec: {containers: [{name: c}]}, status: {nominatedNodeName: '" +
        std::string(nominated) +
        "', conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "
        "full}]}}");
  };
  fail_pod(waiting(""), "full", "");
  EXPECT_EQ(api_->waiting, 0) << "it says so already";
  fail_pod(waiting("node-1"), "full", "");
  EXPECT_EQ(api_->waiting, 1);
}

TEST_F(PodReportsTest, removes_a_nomination_that_is_still_being_written) {
  const PodPointer pod = placement::testing::plain_pod("a");
  fail_pod(pod, "full", "node-1");
  fail_pod(pod, "full", "");
  api_->let_through();
  loop_.run_ready();
  EXPECT_EQ(api_->nominations, (std::vector<std::string>{"node-1", ""}));
}

}  // namespace
}  // namespace plim::sched
