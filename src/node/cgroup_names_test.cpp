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

TEST(CgroupNames, follow_a_kubelet_with_a_root_of_its_own) {
  EXPECT_EQ(pod_cgroup_paths(CgroupDriver::cgroupfs, "", Qos::burstable, "a-b").front(),
            "/kubepods/burstable/poda-b");
  EXPECT_EQ(pod_cgroup_paths(CgroupDriver::systemd, "", Qos::guaranteed, "a-b").front(),
            "/kubepods.slice/kubepods-poda_b.slice");
  EXPECT_EQ(pod_cgroup_paths(CgroupDriver::systemd, "/x", Qos::best_effort, "a-b").front(),
            "/x.slice/x-kubepods.slice/x-kubepods-besteffort.slice/"
            "x-kubepods-besteffort-poda_b.slice");
  EXPECT_EQ(pod_cgroup_paths(CgroupDriver::systemd, "/a/b", Qos::guaranteed, "u").front(),
            "/a.slice/a-b.slice/a-b-kubepods.slice/a-b-kubepods-podu.slice");
}

TEST(CgroupNames, of_containers_begin_with_the_likeliest) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(container_cgroup_names(CgroupDriver::cgroupfs, "containerd", "c"),
            (Names{"c", "cri-containerd-c.scope", "crio-c.scope", "docker-c.scope"}));
  EXPECT_EQ(container_cgroup_names(CgroupDriver::systemd, "cri-o", "c"),
            (Names{"crio-c.scope", "cri-containerd-c.scope", "docker-c.scope", "c"}));
  EXPECT_EQ(container_cgroup_names(CgroupDriver::systemd, "docker", "c").front(), "docker-c.scope");
}

TEST(CgroupNames, are_read_back) {
  EXPECT_EQ(pod_uid_of("kubepods-burstable-pod12_ab.slice"), "12-ab");
  EXPECT_EQ(pod_uid_of("kubepods-pod12_ab.slice"), "12-ab");
  EXPECT_EQ(pod_uid_of("pod12-ab"), "12-ab");
  EXPECT_EQ(pod_uid_of("system.slice"), "");
  EXPECT_EQ(container_id_of("cri-containerd-abc.scope"), "abc");
  EXPECT_EQ(container_id_of("crio-abc.scope"), "abc");
  EXPECT_EQ(container_id_of("crio-conmon-abc.scope"), "conmon-abc");
  EXPECT_EQ(container_id_of("abc"), "abc");
  EXPECT_TRUE(is_qos_cgroup("burstable"));
  EXPECT_TRUE(is_qos_cgroup("kubepods-besteffort.slice"));
  EXPECT_FALSE(is_qos_cgroup("kubepods"));
  EXPECT_TRUE(is_in_pod("0::/kubepods.slice/kubepods-podx.slice/c\n"));
  EXPECT_FALSE(is_in_pod("0::/system.slice/d\n"));
}

TEST(CgroupNames, know_classes_by_kubernetes_names) {
  EXPECT_EQ(parse_qos("BestEffort"), Qos::best_effort);
  EXPECT_EQ(parse_qos("Guaranteed"), Qos::guaranteed);
  EXPECT_EQ(parse_qos("besteffort"), std::nullopt);
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
