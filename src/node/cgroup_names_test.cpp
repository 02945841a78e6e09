#include "node/cgroup_names.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace plim::node {
namespace {

constexpr std::string_view kUid = "0b8a-6f0c";

TEST(CgroupNames, follow_the_cgroupfs_driver) {
  constexpr auto kDriver = CgroupDriver::cgroupfs;
  EXPECT_EQ(pod_cgroup(kDriver, Qos::guaranteed, kUid), "kubepods/pod0b8a-6f0c");
  EXPECT_EQ(pod_cgroup(kDriver, Qos::burstable, kUid), "kubepods/burstable/pod0b8a-6f0c");
  EXPECT_EQ(pod_cgroup(kDriver, Qos::best_effort, kUid), "kubepods/besteffort/pod0b8a-6f0c");
  EXPECT_EQ(container_cgroup(kDriver, "c0ffee"), "c0ffee");
}

TEST(CgroupNames, follow_the_systemd_driver) {
  constexpr auto kDriver = CgroupDriver::systemd;
  EXPECT_EQ(pod_cgroup(kDriver, Qos::guaranteed, kUid),
            "kubepods.slice/kubepods-pod0b8a_6f0c.slice");
  EXPECT_EQ(pod_cgroup(kDriver, Qos::burstable, kUid),
            "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b8a_6f0c.slice");
  EXPECT_EQ(pod_cgroup(kDriver, Qos::best_effort, kUid),
            "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0b8a_6f0c.slice");
  EXPECT_EQ(container_cgroup(kDriver, "c0ffee"), "cri-containerd-c0ffee.scope");
  EXPECT_EQ(container_cgroup(kDriver, "c0ffee", "crio"), "crio-c0ffee.scope");
}

TEST(CgroupNames, accept_only_names_that_can_be_part_of_a_path) {
  EXPECT_TRUE(is_path_part("0b8a"));
  for (std::string_view bad : {"", ".", "..", "a/b", "../x"}) EXPECT_FALSE(is_path_part(bad));
}

TEST(CgroupValues, are_those_of_a_kubelet) {
  EXPECT_EQ(shares_of(0), 2);
  EXPECT_EQ(shares_of(1), 2);
  EXPECT_EQ(shares_of(250), 256);
  EXPECT_EQ(shares_of(1000), 1024);
  EXPECT_EQ(shares_of(std::numeric_limits<std::int64_t>::max()), 262144);
  EXPECT_EQ(weight_of_shares(2), 1);
  EXPECT_EQ(weight_of_shares(1000), 39);
  EXPECT_EQ(weight_of_shares(1024), 39);
  EXPECT_EQ(weight_of_shares(2000), 77);
  EXPECT_EQ(weight_of_shares(262144), 10000);
  EXPECT_EQ(quota_us_of(1500), 150000);
  EXPECT_EQ(quota_us_of(1), 1000);
}

}  // namespace
}  // namespace plim::node
