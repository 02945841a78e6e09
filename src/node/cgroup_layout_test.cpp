#include "node/cgroup_layout.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::node {
namespace {

constexpr std::string_view kHybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 /docker/x /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/a\\040b rw - cgroup cgroup rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(CgroupLayout, reads_a_hybrid_machine) {
  const CgroupLayout layout = parse_cgroup_mounts(kHybrid, "/");
  ASSERT_EQ(layout.mounts.size(), 4u);
  EXPECT_EQ(layout.find("cpuacct")->directory, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_FALSE(layout.find("cpuacct")->read_only);
  EXPECT_EQ(layout.find("memory")->root, "/docker/x");
  EXPECT_TRUE(layout.find("memory")->read_only);
  EXPECT_EQ(layout.find("name=systemd")->directory, "/sys/fs/cgroup/a b");
  EXPECT_EQ(layout.unified()->directory, "/sys/fs/cgroup/unified");
  EXPECT_EQ(layout.find("pids"), nullptr);
  EXPECT_FALSE(layout.is_v2());
}

TEST(CgroupLayout, reads_a_unified_machine_below_a_host_root) {
  plim::testing::TempDir host;
  ASSERT_TRUE(make_directories(host / "sys/fs/cgroup"));
  ASSERT_TRUE(write_file(host / "sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n"));
  ASSERT_TRUE(make_directories(host / "proc/1"));
  ASSERT_TRUE(write_file(host / "proc/1/mountinfo",
                         "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"));
  const CgroupLayout layout = detect_cgroups(host.path());
  EXPECT_TRUE(layout.is_v2());
  EXPECT_EQ(layout.find("memory"), layout.unified());
  EXPECT_EQ(layout.unified()->directory, host / "sys/fs/cgroup");
}

TEST(CgroupLayout, detects_the_version_of_a_plain_tree) {
  plim::testing::TempDir host;
  EXPECT_TRUE(detect_cgroups(host.path()).mounts.empty());
  for (const char* name : {"cpu,cpuacct", "memory", "notes"})
    ASSERT_TRUE(make_directories(host / ("sys/fs/cgroup/" + std::string(name))));
  const CgroupLayout v1 = detect_cgroups(host.path());
  EXPECT_EQ(v1.mounts.size(), 2u);
  EXPECT_EQ(v1.find("cpu"), v1.find("cpuacct"));
  ASSERT_TRUE(write_file(host / "sys/fs/cgroup/cgroup.controllers", "cpu memory"));
  EXPECT_TRUE(detect_cgroups(host.path()).is_v2());
}

TEST(CgroupLayout, survives_broken_lines) {
  EXPECT_TRUE(parse_cgroup_mounts("x\n1 2 - cgroup\n - \n - cgroup a rw,cpu", "/").mounts.empty());
}

TEST(CgroupMembership, finds_the_path_in_each_hierarchy) {
  const CgroupLayout layout = parse_cgroup_mounts(kHybrid, "/");
  const auto self = CgroupMembership::parse(
      "9:name=systemd:/user\n4:memory:/docker/x/y\n2:cpu,cpuacct:/c:d\n0::/u\nbroken\n");
  EXPECT_EQ(self.path_in(*layout.find("memory")), "/docker/x/y");
  EXPECT_EQ(self.path_in(*layout.find("cpu")), "/c:d");
  EXPECT_EQ(self.path_in(*layout.unified()), "/u");
  EXPECT_EQ(CgroupMembership::parse("").path_in(*layout.find("cpu")), "/");
}

}  // namespace
}  // namespace plim::node
