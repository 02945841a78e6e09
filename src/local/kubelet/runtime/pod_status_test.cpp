#include "local/kubelet/runtime/pod_status.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/apiserver/testing/api_fixture.hpp"
#include "local/kubelet/runtime/testing/facts_builder.hpp"

namespace plim::local::kubelet {
namespace {

using plim::testing::pod_facts;

const WallTime kNow(std::chrono::seconds(1'700'000'010));

const json::value& condition(const json::value& status, std::string_view type) {
  static const json::value kNone;
  for (const json::value& item : find(status, {"conditions"})->as_array())
    if (text_at(item, {"type"}) == type) return item;
  return kNone;
}

std::string described(const json::value& status, std::string_view type) {
  const json::value& found = condition(status, type);
  return fmt::format("{} {}", text_at(found, {"status"}), text_at(found, {"reason"}));
}

struct StatusRow {
  RestartPolicy policy;
  const char* init;
  const char* containers;
  const char* phase;
};

TEST(PodStatus, has_the_phase_of_a_kubelet) {
  const std::vector<StatusRow> rows{
      {RestartPolicy::always, "", "new", "Pending"},
      {RestartPolicy::always, "", "running, new", "Pending"},
      {RestartPolicy::always, "", "running", "Running"},
      {RestartPolicy::always, "", "unready", "Running"},
      {RestartPolicy::always, "", "crash 1", "Running"},
      {RestartPolicy::always, "", "exit 0", "Running"},
      {RestartPolicy::on_failure, "", "exit 0", "Succeeded"},
      {RestartPolicy::on_failure, "", "crash 2, exit 0", "Running"},
      {RestartPolicy::on_failure, "", "exit 0, running", "Running"},
      {RestartPolicy::never, "", "exit 0, exit 0", "Succeeded"},
      {RestartPolicy::never, "", "exit 0, exit 3", "Failed"},
      {RestartPolicy::never, "", "exit 3, running", "Running"},
      {RestartPolicy::always, "running", "new", "Pending"},
      {RestartPolicy::always, "crash 1", "new", "Pending"},
      {RestartPolicy::never, "exit 1", "new", "Failed"},
      {RestartPolicy::never, "exit 0", "new", "Pending"},
      {RestartPolicy::always, "side-running", "running", "Running"},
      {RestartPolicy::never, "side-running", "exit 0", "Running"},
      {RestartPolicy::never, "side-exit 137", "exit 0", "Succeeded"},
  };
  for (const StatusRow& row : rows)
    EXPECT_EQ(phase_of(row.policy, pod_facts(row.init, row.containers)), row.phase)
        << row.init << " | " << row.containers;
}

TEST(PodStatus, is_final_once_everything_was_stopped) {
  PodFacts stopped = pod_facts("", "exit 137");
  stopped.ended = true;
  EXPECT_EQ(phase_of(RestartPolicy::always, stopped), "Failed");
  PodFacts done = pod_facts("", "exit 0");
  done.ended = true;
  EXPECT_EQ(phase_of(RestartPolicy::always, done), "Succeeded");
  PodFacts never_ran = pod_facts("", "new");
  never_ran.ended = true;
  EXPECT_EQ(phase_of(RestartPolicy::always, never_ran), "Failed");
}

TEST(PodStatus, has_the_conditions_in_order) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{"restartPolicy":"Always"}})");
  const json::value status = make_pod_status(pod, pod_facts("", "running"), kNow);
  std::vector<std::string> types;
  for (const json::value& item : find(status, {"conditions"})->as_array())
    types.emplace_back(text_at(item, {"type"}));
  EXPECT_EQ(types, (std::vector<std::string>{"PodReadyToStartContainers", "Initialized", "Ready",
                                             "ContainersReady", "PodScheduled"}));
}

TEST(PodStatus, explains_why_a_pod_is_not_ready) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{"restartPolicy":"Never"}})");
  const json::value starting = make_pod_status(pod, pod_facts("running, new", "new"), kNow);
  EXPECT_EQ(described(starting, "Initialized"), "False ContainersNotInitialized");
  EXPECT_EQ(text_at(condition(starting, "Initialized"), {"message"}),
            "containers with incomplete status: [i1 i2]");
  EXPECT_EQ(text_at(condition(starting, "Ready"), {"message"}),
            "containers with unready status: [c1]");
  const json::value done = make_pod_status(pod, pod_facts("exit 0", "exit 0"), kNow);
  EXPECT_EQ(described(done, "Initialized"), "True PodCompleted");
  EXPECT_EQ(described(done, "Ready"), "False PodCompleted");
  EXPECT_EQ(described(done, "ContainersReady"), "False PodCompleted");
  const json::value failed = make_pod_status(pod, pod_facts("", "exit 1"), kNow);
  EXPECT_EQ(described(failed, "Initialized"), "True ");
  EXPECT_EQ(described(failed, "Ready"), "False PodFailed");
}

TEST(PodStatus, keeps_the_time_of_a_condition_that_stays) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{},"status":{"conditions":[
      {"type":"Ready","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z"},
      {"type":"ContainersReady","status":"False","lastTransitionTime":"2020-01-01T00:00:00Z"},
      {"type":"DisruptionTarget","status":"True"}]}})");
  const json::value status = make_pod_status(pod, pod_facts("", "running"), kNow);
  EXPECT_EQ(text_at(condition(status, "Ready"), {"lastTransitionTime"}), "2020-01-01T00:00:00Z");
  EXPECT_EQ(text_at(condition(status, "ContainersReady"), {"lastTransitionTime"}),
            "2023-11-14T22:13:30Z");
  EXPECT_EQ(described(status, "DisruptionTarget"), "True ");
}

TEST(PodStatus, waits_for_readiness_gates) {
  const json::value pod =
      apiserver::testing::parsed(R"({"spec":{"readinessGates":[{"conditionType":"x/y"}]}})");
  const json::value status = make_pod_status(pod, pod_facts("", "running"), kNow);
  EXPECT_EQ(described(status, "ContainersReady"), "True ");
  EXPECT_EQ(described(status, "Ready"), "False ReadinessGatesNotReady");
}

TEST(PodStatus, shows_waiting_running_and_ended_containers) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{"restartPolicy":"OnFailure"}})");
  PodFacts facts = pod_facts("", "new, running, exit 3, crash 1");
  facts.containers[3].waiting_message = "back-off 10s";
  const json::value status = make_pod_status(pod, facts, kNow);
  const json::array& list = find(status, {"containerStatuses"})->as_array();
  EXPECT_EQ(text_at(list[0], {"state", "waiting", "reason"}), "ContainerCreating");
  EXPECT_EQ(text_at(list[1], {"state", "running", "startedAt"}), "2023-11-14T22:13:20Z");
  EXPECT_TRUE(bool_at(list[1], {"ready"}));
  EXPECT_EQ(int_at(list[2], {"state", "terminated", "exitCode"}), 3);
  EXPECT_EQ(text_at(list[2], {"state", "terminated", "reason"}), "Error");
  EXPECT_EQ(text_at(list[2], {"state", "terminated", "finishedAt"}), "2023-11-14T22:13:25Z");
  EXPECT_EQ(text_at(list[3], {"state", "waiting", "reason"}), "CrashLoopBackOff");
  EXPECT_EQ(int_at(list[3], {"lastState", "terminated", "exitCode"}), 1);
  EXPECT_EQ(text_at(list[3], {"containerID"}), "containerd://" + std::string(64, 'a'));
}

TEST(PodStatus, what_never_ran_has_no_start) {
  PodFacts facts = pod_facts("", "exit 128");
  facts.containers[0].run->reason = "StartError";
  const json::value pod = apiserver::testing::parsed(R"({"spec":{"restartPolicy":"Never"}})");
  const json::value status = make_pod_status(pod, facts, kNow);
  const json::value& ended = find(status, {"containerStatuses"})->as_array()[0];
  EXPECT_EQ(text_at(ended, {"state", "terminated", "startedAt"}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(text_at(ended, {"state", "terminated", "finishedAt"}), "2023-11-14T22:13:25Z");
}

TEST(PodStatus, shows_a_finished_init_container_as_ready) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{}})");
  const json::value status = make_pod_status(pod, pod_facts("exit 0, running", "new"), kNow);
  const json::array& init = find(status, {"initContainerStatuses"})->as_array();
  EXPECT_TRUE(bool_at(init[0], {"ready"}));
  EXPECT_FALSE(bool_at(init[1], {"ready"}));
  const json::array& list = find(status, {"containerStatuses"})->as_array();
  EXPECT_EQ(text_at(list[0], {"state", "waiting", "reason"}), "PodInitializing");
}

TEST(PodStatus, gives_the_reason_of_a_failed_pod) {
  const json::value pod = apiserver::testing::parsed(R"({"spec":{}})");
  PodFacts facts = pod_facts("", "running");
  facts.failure = {"DeadlineExceeded", "too long"};
  const json::value status = make_pod_status(pod, facts, kNow);
  EXPECT_EQ(text_at(status, {"phase"}), "Failed");
  EXPECT_EQ(text_at(status, {"reason"}), "DeadlineExceeded");
  const json::value rejected = make_rejected_status(pod, {"OutOfcpu", "no room"}, kNow);
  EXPECT_EQ(text_at(rejected, {"message"}), "Pod was rejected: no room");
}

}  // namespace
}  // namespace plim::local::kubelet
