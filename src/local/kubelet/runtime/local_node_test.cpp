#include "local/kubelet/runtime/local_node.hpp"

#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using LocalNodeTest = testing::NodeTest;

TEST_F(LocalNodeTest, registers_itself_as_ready) {
  start_node();
  auto object = run(client->get(kube::resources::nodes, {"", "n1"}));
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(text_at(*object, {"metadata", "labels", "kubernetes.io/hostname"}), "n1");
  EXPECT_EQ(text_at(*object, {"status", "allocatable", "cpu"}), "4");
  EXPECT_EQ(text_at(*object, {"status", "allocatable", "pods"}), "110");
  EXPECT_EQ(text_at(*object, {"status", "nodeInfo", "operatingSystem"}), "linux");
  std::string ready;
  for (const json::value& condition : list_at(*object, {"status", "conditions"}))
    if (text_at(condition, {"type"}) == "Ready") ready = text_at(condition, {"status"});
  EXPECT_EQ(ready, "True");
  auto lease = run(client->get(kube::resources::leases, {"kube-node-lease", "n1"}));
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(int_at(*lease, {"spec", "leaseDurationSeconds"}), 40);
}

TEST_F(LocalNodeTest, writes_ready_soon_after_it_was_marked_not_ready) {
  start_node();
  json::value patch = apiserver::testing::parsed(R"({"status": {"conditions": [
      {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"},
      {"type": "example.io/Fan", "status": "True", "reason": "Turns"}]}})");
  auto marked = run(client->patch(kube::resources::nodes, {"", "n1", "status"},
                                  kube::PatchType::strategic, std::move(patch)));
  ASSERT_TRUE(marked) << marked.error().message;
  clock.advance(11s);
  for (int i = 0; i < 50; ++i) loop.run_ready();
  auto object = run(client->get(kube::resources::nodes, {"", "n1"}));
  ASSERT_TRUE(object) << object.error().message;
  std::vector<std::string> conditions;
  for (const json::value& condition : list_at(*object, {"status", "conditions"}))
    if (text_at(condition, {"status"}) == "True")
      conditions.emplace_back(text_at(condition, {"type"}));
  EXPECT_THAT(conditions, ::testing::UnorderedElementsAre("Ready", "example.io/Fan"));
}

TEST_F(LocalNodeTest, runs_a_pod_to_its_success) {
  start_node();
  create_pod("a", script("echo hello"));
  EXPECT_THAT(follow("a", phase("Succeeded")).back(), "Succeeded c:Completed(0)");
  EXPECT_EQ(log_of("a"), "hello\n");
  const json::value pod = get_pod("a");
  EXPECT_EQ(text_at(pod, {"status", "podIP"}), "127.32.1.2");
  EXPECT_EQ(text_at(pod, {"status", "hostIP"}), "127.32.1.1");
}

TEST_F(LocalNodeTest, shows_a_running_pod_as_ready) {
  start_node();
  create_pod("a", script("exec sleep 100"));
  EXPECT_THAT(follow("a", shows("c:Ready")),
              ElementsAre("Pending c:ContainerCreating", "Running c:Ready"));
}

TEST_F(LocalNodeTest, reports_a_failed_pod) {
  start_node();
  create_pod("a", script("exit 3"));
  EXPECT_THAT(follow("a", phase("Failed")).back(), "Failed c:Error(3)");
}

TEST_F(LocalNodeTest, reports_a_missing_program) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Never",
      "containers":[{"name":"c","image":"x","command":["no-such-program"]}]})");
  EXPECT_THAT(follow("a", phase("Failed")).back(), "Failed c:StartError(128)");
}

TEST_F(LocalNodeTest, deletes_a_pod_that_ends_on_sigterm) {
  start_node();
  create_pod("a", script("trap 'exit 0' TERM; while :; do sleep 0.01; done"));
  follow("a", shows("c:Ready"));
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"})));
  EXPECT_EQ(follow("a", phase("none")).back(), "gone");
}

}  // namespace
}  // namespace plim::local::kubelet
