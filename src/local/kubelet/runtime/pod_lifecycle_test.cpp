// Whole lives of pods on a node, as their status shows them.
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using PodLifecycle = testing::NodeTest;

// Succeeds if the words appear in this order.
::testing::AssertionResult in_order(const std::vector<std::string>& states,
                                    const std::vector<std::string>& wanted) {
  std::size_t next = 0;
  std::string all;
  for (const std::string& state : states) {
    all += "\n  " + state;
    if (next < wanted.size() && state.find(wanted[next]) != std::string::npos) ++next;
  }
  if (next == wanted.size()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no " << wanted[next] << " at its place in" << all;
}

TEST_F(PodLifecycle, starts_init_containers_sidecar_and_containers_in_order) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","terminationGracePeriodSeconds":5,
      "initContainers":[
        {"name":"i1","image":"x","command":["sh","-c","echo 1 >> ../order"],"workingDir":""},
        {"name":"side","image":"x","restartPolicy":"Always","command":["sh","-c",
          "trap 'exit 0' TERM; while :; do sleep 0.01; done"]},
        {"name":"i2","image":"x","command":["true"]}],
      "containers":[
        {"name":"c1","image":"x","command":["true"]},
        {"name":"c2","image":"x","command":["sh","-c","exit 0"]}]})");
  const auto states = follow("a", phase("Succeeded"));
  const std::string succeeded =
      "Succeeded i1:Completed(0) side:Completed(0) i2:Completed(0) c1:Completed(0) "
      "c2:Completed(0)";
  const std::string pending =
      "Pending i1:PodInitializing side:PodInitializing i2:PodInitializing "
      "c1:PodInitializing c2:PodInitializing";
  EXPECT_TRUE(in_order(states, {pending, "i1:Completed(0) side:PodInitializing i2:PodInitializing",
                                "i1:Completed(0) side:Ready i2:PodInitializing",
                                "i1:Completed(0) side:Ready i2:Completed(0)", succeeded}));
}

TEST_F(PodLifecycle, shows_how_containers_ended_while_a_sidecar_takes_its_time) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","terminationGracePeriodSeconds":1000,
      "initContainers":[{"name":"side","image":"x","restartPolicy":"Always","command":["sh","-c",
          "trap 'while ! test -e ../go; do sleep 0.01; done; exit 0' TERM; while :; do sleep 0.01; done"]}],
      "containers":[{"name":"c","image":"x","command":["sh","-c","exit 3"]}]})");
  follow("a", shows("Running side:Ready c:Error(3)"));
  const std::string uid(text_at(get_pod("a"), {"metadata", "uid"}));
  ASSERT_TRUE(write_file(fmt::format("{}/n1/pods/{}/go", dir.path(), uid), ""));
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed side:Completed(0) c:Error(3)");
}

TEST_F(PodLifecycle, fails_when_an_init_container_does) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never",
      "initContainers":[{"name":"i","image":"x","command":["false"]}],
      "containers":[{"name":"c","image":"x","command":["true"]}]})");
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed i:Error(1) c:PodInitializing");
}

TEST_F(PodLifecycle, restarts_with_growing_delays) {
  start_node();
  create_pod("a", script("exit 3", "Always"));
  EXPECT_TRUE(in_order(follow("a", shows("CrashLoopBackOffx1")), {"Error(3)", "Error(3)x1"}));
  const json::value first = get_pod("a");
  const json::value& status = list_at(first, {"status", "containerStatuses"}).at(0);
  EXPECT_THAT(std::string(text_at(status, {"state", "waiting", "message"})),
              StartsWith("back-off 10s restarting failed container=c pod=a_default("));
  EXPECT_EQ(int_at(status, {"lastState", "terminated", "exitCode"}), 3);
  EXPECT_EQ(text_at(first, {"status", "phase"}), "Running");
  clock.advance(10s);
  follow("a", shows("CrashLoopBackOffx2"));
  clock.advance(19s);
  loop.run_ready();
  EXPECT_EQ(testing::summary(get_pod("a")), "Running c:CrashLoopBackOffx2");
  clock.advance(1s);
  follow("a", shows("CrashLoopBackOffx3"));
  clock.advance(40s);
  follow("a", shows("CrashLoopBackOffx4"));
}

TEST_F(PodLifecycle, restarts_on_failure_until_it_succeeds) {
  start_node();
  create_pod("a", script("test -e ../tried && exit 0; touch ../tried; exit 1", "OnFailure"));
  EXPECT_EQ(follow("a", phase("Succeeded")).back(), "Succeeded c:Completed(0)x1");
}

TEST_F(PodLifecycle, distinguishes_a_kill_from_running_out_of_memory) {
  start_node();
  create_pod("killed", script("kill -9 $$"));
  EXPECT_EQ(follow("killed", phase("Failed")).back(), "Failed c:Error(137)");
  cgroups.oom_kills = 1;
  create_pod("hog", script("kill -9 $$"));
  EXPECT_EQ(follow("hog", phase("Failed")).back(), "Failed c:OOMKilled(137)");
}

TEST_F(PodLifecycle, kills_containers_that_ignore_sigterm) {
  start_node();
  create_pod("a", script("trap '' TERM; echo $$ > ../pid; while :; do sleep 0.01; done"));
  follow("a", shows("c:Ready"));
  const std::string uid(text_at(get_pod("a"), {"metadata", "uid"}));
  const std::string file = fmt::format("{}/n1/pods/{}/pid", dir.path(), uid);
  while (read_file(file).value_or("").empty()) ::usleep(1000);
  const pid_t pid = std::stoi(*read_file(file));
  kube::DeleteOptions grace;
  grace.grace_seconds = 2;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, grace)));
  loop.run_ready();
  clock.advance(1900ms);
  loop.run_ready();
  EXPECT_EQ(::kill(pid, 0), 0);
  clock.advance(100ms);
  const auto states = follow("a", phase("none"));
  EXPECT_EQ(states.back(), "gone");
  EXPECT_TRUE(in_order(states, {"Failed c:Error(137)", "gone"}));
  EXPECT_NE(::kill(pid, 0), 0);
  while (!node->pods().empty()) loop.run_ready();
  EXPECT_NE(::access(file.c_str(), F_OK), 0);
}

TEST_F(PodLifecycle, stops_a_container_with_the_signal_of_its_image) {
  start_node();
  const std::pair<std::string, std::string> cases[] = {{"sigint", "7"}, {"signal-999", "8"}};
  for (const auto& [image, code] : cases) {
    create_pod(image, fmt::format(R"({{"restartPolicy":"Never","terminationGracePeriodSeconds":5,
      "containers":[{{"name":"c","image":"{}","command":["sh","-c",
      "trap 'exit 7' INT; trap 'exit 8' TERM; echo > ../ready; while :; do sleep 0.01; done"]}}]}})",
                                  image));
    follow(image, shows("c:Ready"));
    const std::string uid(text_at(get_pod(image), {"metadata", "uid"}));
    const std::string file = fmt::format("{}/n1/pods/{}/ready", dir.path(), uid);
    while (::access(file.c_str(), F_OK) != 0) ::usleep(1000);
    ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", image})));
    const std::string end = fmt::format("Failed c:Error({})", code);
    EXPECT_TRUE(in_order(follow(image, phase("none")), {end, "gone"})) << image;
  }
}

TEST_F(PodLifecycle, ends_a_pod_past_its_deadline) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","activeDeadlineSeconds":30,
      "terminationGracePeriodSeconds":5,
      "containers":[{"name":"c","image":"x","command":["sleep","1000"]}]})");
  follow("a", shows("c:Ready"));
  clock.advance(30s);
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:Error(143)");
  EXPECT_EQ(text_at(get_pod("a"), {"status", "reason"}), "DeadlineExceeded");
}

TEST_F(PodLifecycle, refuses_what_does_not_fit) {
  start_node();
  create_pod("big", R"({"containers":[{"name":"c","image":"x",
      "resources":{"requests":{"cpu":"100"}}}]})");
  follow("big", phase("Failed"));
  EXPECT_EQ(text_at(get_pod("big"), {"status", "reason"}), "OutOfcpu");
  devices.refuse = true;
  create_pod("a", script("true"));
  follow("a", phase("Failed"));
  EXPECT_EQ(text_at(get_pod("a"), {"status", "reason"}), "UnexpectedAdmissionError");
}

TEST_F(PodLifecycle, waits_for_the_place_of_a_pod_that_was_deleted_by_force) {
  devices.most = 1;
  start_node();
  create_pod("a", script("trap '' TERM; while :; do sleep 0.01; done"));
  follow("a", shows("c:Ready"));
  kube::DeleteOptions by_force;
  by_force.grace_seconds = 0;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, by_force)));
  create_pod("b", script("true"));
  const auto states = follow(
      "b", [](const json::value& pod) { return phase("Succeeded")(pod) || phase("Failed")(pod); });
  EXPECT_EQ(states.back(), "Succeeded c:Completed(0)");
}

TEST_F(PodLifecycle, runs_no_hook_after_a_deletion_by_force) {
  node_clock = &system_clock();  // whose steady time is not near zero
  devices.most = 1;
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"x",
      "command":["sh","-c","trap '' TERM; while :; do sleep 0.01; done"],
      "lifecycle":{"preStop":{"exec":{"command":["sleep","1000"]}}}}]})");
  follow("a", shows("c:Ready"));
  kube::DeleteOptions by_force;
  by_force.grace_seconds = 0;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, by_force)));
  create_pod("b", script("true"));  // its device is the one that a has
  const auto ended = [](const json::value& pod) {
    return phase("Succeeded")(pod) || phase("Failed")(pod);
  };
  EXPECT_EQ(follow("b", ended).back(), "Succeeded c:Completed(0)");
}

TEST_F(PodLifecycle, waits_for_an_image_that_cannot_be_pulled) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"missing:1"}]})");
  EXPECT_TRUE(in_order(follow("a", shows("ImagePullBackOff")), {"ErrImagePull"}));
}

TEST_F(PodLifecycle, waits_for_a_missing_config_map) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"x",
      "command":["sh","-c","echo $A"],"env":[{"name":"A","valueFrom":
        {"configMapKeyRef":{"name":"cm","key":"a"}}}]}]})");
  follow("a", shows("CreateContainerConfigError"));
  json::value map{{"metadata", {{"name", "cm"}, {"namespace", "default"}}},
                  {"data", {{"a", "found"}}}};
  ASSERT_TRUE(run(client->create(kube::resources::config_maps, {"default", "cm"}, map)));
  clock.advance(10s);
  follow("a", phase("Succeeded"));
  EXPECT_EQ(log_of("a"), "found\n");
}

TEST_F(PodLifecycle, keeps_the_last_words_of_a_container) {
  start_node();
  create_pod("a", script("printf 'out of cheese' > $PLIMSOLL_TERMINATION_LOG; exit 1"));
  follow("a", phase("Failed"));
  const json::value pod = get_pod("a");
  EXPECT_EQ(text_at(list_at(pod, {"status", "containerStatuses"}).at(0),
                    {"state", "terminated", "message"}),
            "out of cheese");
}

TEST_F(PodLifecycle, runs_hooks_at_both_ends) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","terminationGracePeriodSeconds":5,
      "containers":[{"name":"c","image":"x","command":["sh","-c",
          "trap 'cat ../log; exit 0' TERM; while :; do sleep 0.01; done"],
        "lifecycle":{"postStart":{"exec":{"command":["sh","-c","echo begin >> ../log"]}},
          "preStop":{"exec":{"command":["sh","-c","echo end >> ../log"]}}}}]})");
  follow("a", shows("c:Ready"));
  const std::string uid(text_at(get_pod("a"), {"metadata", "uid"}));
  const std::string file = fmt::format("{}/n1/pods/{}/log", dir.path(), uid);
  EXPECT_EQ(read_file(file).value_or(""), "begin\n");
  run_to_end(loop, node->end_pods(Shutdown::for_good));
  EXPECT_EQ(read_file(file).value_or(""), "begin\nend\n");
  EXPECT_EQ(text_at(get_pod("a"), {"status", "reason"}), "Terminated");
}

TEST_F(PodLifecycle, writes_events) {
  node_clock = &system_clock();  // the names of events contain the time
  start_node();
  create_pod("a", script("echo bind: Address already in use >&2; exit 1"));
  follow("a", phase("Failed"));
  std::vector<std::string> seen;
  for (int i = 0; i < 1000 && seen.size() < 4; ++i) {
    loop.run_ready();
    seen.clear();
    auto events = run(client->list(kube::resources::events, {.ns = "default"}));
    ASSERT_TRUE(events) << events.error().message;
    for (const json::value& event : list_at(*events, {"items"}))
      seen.push_back(fmt::format("{} {} {}", text_at(event, {"reason"}),
                                 text_at(event, {"involvedObject", "fieldPath"}),
                                 text_at(event, {"message"})));
  }
  EXPECT_THAT(
      seen,
      ::testing::UnorderedElementsAre(
          "Pulled spec.containers{c} Container image \"busybox\" already present on "
          "machine",
          "Created spec.containers{c} Created container: c",
          "Started spec.containers{c} Started container c",
          HasSubstr("PortConflict spec.containers{c} The port of container c is already in use")));
}

TEST_F(PodLifecycle, annotates_exact_times_of_runs_if_asked) {
  options.annotate_runs = true;
  start_node();
  create_pod("a", script("exit 0"));
  // Written after the status.
  follow("a", [](const json::value& pod) {
    return !text_at(pod, {"metadata", "annotations", "plimsoll.io/run-ns"}).empty();
  });
  const json::value pod = get_pod("a");
  const json::value times =
      apiserver::testing::parsed(text_at(pod, {"metadata", "annotations", "plimsoll.io/run-ns"}));
  const ContainerRun run = node->runs().at(0);
  EXPECT_EQ(times.at("c").at(0).at(0).as_int64(), run.started_wall.time_since_epoch().count());
  EXPECT_EQ(times.at("c").at(0).at(1).as_int64(), run.finished_wall.time_since_epoch().count());
}

TEST_F(PodLifecycle, runs_many_short_pods_at_once) {
  start_node();
  constexpr int kPods = 25;
  for (int i = 0; i < kPods; ++i) create_pod(fmt::format("p{}", i), script("exit 0"));
  for (int i = 0; i < kPods; ++i) follow(fmt::format("p{}", i), phase("Succeeded"));
  const auto runs = node->runs();
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(kPods));
  for (const ContainerRun& run : runs) {
    EXPECT_LE(run.started_wall, run.finished_wall);
    EXPECT_LE(run.started_monotonic, run.finished_monotonic);
  }
}

}  // namespace
}  // namespace plim::local::kubelet
