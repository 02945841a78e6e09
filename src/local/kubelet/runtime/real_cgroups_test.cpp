// Pods in real cgroups, where this machine lets us make them.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

class PodInCgroups : public testing::NodeTest {
 protected:
  PodInCgroups() {
    CgroupOptions where;
    where.cluster = "test-" + dir.path().substr(dir.path().size() - 6);
    where.node = "n1";
    real = open_node_cgroups(where);
  }

  void TearDown() override {
    if (!node) return;
    NodeTest::TearDown();
    EXPECT_TRUE(real->remove_node());
  }

  void start_in_cgroups() {
    node = LocalNode::create({loop.executor(), client, clock, images, *real, devices}, options);
    ASSERT_TRUE(run(node->start()));
  }

  std::unique_ptr<NodeCgroups> real;
};

TEST_F(PodInCgroups, is_killed_when_it_takes_too_much_memory) {
  if (!real->available()) GTEST_SKIP() << real->why_not();
  start_in_cgroups();
  create_pod("hog", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"plimsoll/tools",
      "args":["alloc","--mib","200","--seconds","60"],
      "resources":{"limits":{"memory":"32Mi"}}}]})");
  EXPECT_EQ(follow("hog", phase("Failed")).back(), "Failed c:OOMKilled(137)");
}

TEST_F(PodInCgroups, takes_every_process_with_it) {
  if (!real->available()) GTEST_SKIP() << real->why_not();
  start_in_cgroups();
  create_pod("a", script("setsid env -i sleep 1000 & setsid env -i sleep 1000 & exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const json::value pod = get_pod("a");
  while (real->processes(pod, "").size() < 3) loop.run_ready();
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"})));
  EXPECT_EQ(follow("a", phase("none")).back(), "gone");
  EXPECT_TRUE(real->processes(pod, "").empty());
}

}  // namespace
}  // namespace plim::local::kubelet
