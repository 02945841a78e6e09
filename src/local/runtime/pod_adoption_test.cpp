// What becomes of pods while their node is away.
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/runtime/shim_client.hpp"
#include "local/runtime/testing/node_fixture.hpp"

namespace plim::local {
namespace {

using namespace std::chrono_literals;

class PodAdoption : public testing::NodeTest {
 protected:
  std::string pod_directory(std::string name) {
    return fmt::format("{}/n1/pods/{}", dir.path(), text_at(get_pod(name), {"metadata", "uid"}));
  }
};

TEST_F(PodAdoption, leaves_a_running_pod_alone) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const std::string before(
      text_at(list_at(get_pod("a"), {"status", "containerStatuses"}).at(0), {"containerID"}));
  stop_node();
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  EXPECT_TRUE(is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start));
  start_node();
  follow("a", shows("c:Ready"));
  loop.run_ready();
  const json::value pod = get_pod("a");
  const json::value& status = list_at(pod, {"status", "containerStatuses"}).at(0);
  EXPECT_EQ(text_at(status, {"containerID"}), before);
  EXPECT_EQ(int_at(status, {"restartCount"}), 0);
  EXPECT_EQ(text_at(pod, {"status", "podIP"}), "127.32.1.2");
}

TEST_F(PodAdoption, learns_how_a_pod_ended_meanwhile) {
  start_node();
  create_pod("a", script("while ! test -e ../go; do sleep 0.01; done; exit 7"));
  follow("a", shows("c:Ready"));
  stop_node();
  ASSERT_TRUE(write_file(pod_directory("a") + "/go", ""));
  for (;;) {
    const auto state = read_shim_state(pod_directory("a"));
    if (state && !state->runs.at(0).running) break;
    ::usleep(1000);
  }
  start_node();
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:Error(7)");
}

TEST_F(PodAdoption, goes_on_counting_restarts) {
  start_node();
  create_pod("a", script("exit 1", "Always"));
  follow("a", shows("CrashLoopBackOffx1"));
  stop_node();
  start_node();
  follow("a", shows("x2"));
}

TEST_F(PodAdoption, says_when_nobody_knows_how_a_pod_ended) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  ::kill(state->pid, SIGKILL);
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:ContainerStatusUnknown(137)");
  while (is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start)) ::usleep(1000);
}

TEST_F(PodAdoption, ends_pods_that_were_deleted_meanwhile) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const std::string directory = pod_directory("a");
  const auto state = read_shim_state(directory);
  ASSERT_TRUE(state);
  stop_node();
  kube::DeleteOptions now;
  now.grace_seconds = 0;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, now)));
  start_node();
  while (::access(directory.c_str(), F_OK) == 0) loop.run_ready();
  EXPECT_FALSE(is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start));
}

TEST_F(PodAdoption, keeps_ended_pods_and_their_logs) {
  start_node();
  create_pod("a", script("echo hello"));
  follow("a", phase("Succeeded"));
  stop_node();
  start_node();
  loop.run_ready();
  EXPECT_EQ(log_of("a"), "hello\n");
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"})));
  EXPECT_EQ(follow("a", phase("none")).back(), "gone");
}

}  // namespace
}  // namespace plim::local
