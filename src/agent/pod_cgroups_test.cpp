#include "agent/pod_cgroups.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"

namespace plim::agent {
namespace {

using node::CgroupDriver;
using node::Qos;

class FoundPods : public ::testing::Test {
 protected:
  void make(const std::string& cgroup) {
    for (const char* controller : {"cpu", "cpuacct", "memory"})
      std::filesystem::create_directories(root_.path() + "/sys/fs/cgroup/" + controller + cgroup);
  }

  node::CgroupMounts mounts() {
    make("");
    return node::CgroupMounts::from(node::detect_cgroups(root_.path()));
  }

  plim::testing::TempDir root_;
  PodFacts pod_{.uid = "u",
                .name = "p",
                .ns = "n",
                .host_ip = "",
                .uid_candidates = {"u"},
                .qos = Qos::burstable,
                .containers = {{"c", "containerd", "id1"}}};
};

TEST_F(FoundPods, a_configured_driver_is_the_only_one_tried) {
  const node::CgroupMounts mounted = mounts();
  make("/kubepods/burstable/podu/id1");
  EXPECT_TRUE(PodCgroups(mounted, std::nullopt, std::nullopt).find(pod_));
  EXPECT_TRUE(PodCgroups(mounted, CgroupDriver::cgroupfs, std::nullopt).find(pod_));
  EXPECT_FALSE(PodCgroups(mounted, CgroupDriver::systemd, std::nullopt).find(pod_));
}

TEST_F(FoundPods, containers_of_other_runtimes_are_found_too) {
  const node::CgroupMounts mounted = mounts();
  PodCgroups cgroups(mounted, std::nullopt, std::nullopt);
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu.slice";
  for (const char* leaf : {"/crio-id1.scope", "/docker-id1.scope", "/id1"}) {
    make(pod + leaf);
    auto found = cgroups.find(pod_);
    ASSERT_TRUE(found) << leaf;
    EXPECT_EQ(found->containers[0].path, pod + leaf);
    std::filesystem::remove_all(root_.path() + "/sys/fs/cgroup/memory" + pod + leaf);
  }
  EXPECT_FALSE(cgroups.find(pod_));  // no container is left
}

TEST_F(FoundPods, a_pod_that_moved_is_found_again) {
  const node::CgroupMounts mounted = mounts();
  PodCgroups cgroups(mounted, std::nullopt, std::nullopt);
  make("/kubepods/burstable/podu/id1");
  ASSERT_TRUE(cgroups.find(pod_));
  std::filesystem::remove_all(root_.path() + "/sys/fs/cgroup/cpu/kubepods");
  EXPECT_FALSE(cgroups.find(pod_));
  make("/kubelet/kubepods/burstable/podu/id1");
  auto found = cgroups.find(pod_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "/kubelet/kubepods/burstable/podu");
}

}  // namespace
}  // namespace plim::agent
