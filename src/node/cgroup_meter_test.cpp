#include "node/cgroup_meter.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::node {
namespace {

class Meters : public ::testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) {
    const std::string whole = root_.path() + "/sys/fs/cgroup/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    ASSERT_TRUE(write_file(whole, text));
  }

  CgroupMounts mounts() const { return CgroupMounts::from(detect_cgroups(root_.path())); }

  void make_v1(const std::string& cgroup) {
    write("cpuacct/" + cgroup + "/cpuacct.usage", "1500\n");
    write("cpu/" + cgroup + "/cpu.stat", "nr_periods 3\nnr_throttled 1\nthrottled_time 9\n");
    write("memory/" + cgroup + "/memory.usage_in_bytes", "100\n");
    write("memory/" + cgroup + "/memory.stat", "total_inactive_file 300\npgfault 4\n");
  }

  testing::TempDir root_;
  FdBudget budget_{.left = 100};
  CgroupSample sample_;
  std::vector<char> buffer_ = meter_buffer();
};

TEST_F(Meters, read_controllers_of_separate_mounts) {
  make_v1("a");
  const CgroupMounts mounted = mounts();
  CgroupMeter meter(mounted, "/a", budget_);
  EXPECT_FALSE(meter.read(sample_, buffer_).gone);
  EXPECT_EQ(sample_[CgroupField::cpu_ns], 1500U);
  EXPECT_EQ(sample_[CgroupField::throttled_ns], 9U);
  EXPECT_EQ(sample_[CgroupField::page_faults], 4U);
  EXPECT_EQ(sample_[CgroupField::memory_working], 0U);  // never below zero
  EXPECT_FALSE(sample_.has(CgroupField::memory_limit));
  EXPECT_FALSE(sample_.has(CgroupField::cpu_some_us));
}

TEST_F(Meters, keep_no_descriptors_of_trees_made_for_tests) {
  make_v1("a");
  const CgroupMounts mounted = mounts();
  CgroupMeter meter(mounted, "/a", budget_);
  meter.read(sample_, buffer_);
  EXPECT_EQ(budget_.left, 100);
  write("cpuacct/a/cpuacct.usage", "1700\n");
  meter.read(sample_, buffer_);
  EXPECT_EQ(sample_[CgroupField::cpu_ns], 1700U);
}

TEST_F(Meters, notice_that_a_cgroup_is_removed_and_created_again) {
  make_v1("a");
  const CgroupMounts mounted = mounts();
  CgroupMeter meter(mounted, "/a", budget_);
  std::filesystem::remove_all(root_.path() + "/sys/fs/cgroup/memory/a");
  EXPECT_TRUE(meter.read(sample_, buffer_).gone);
  EXPECT_EQ(sample_.present, 0U);
  EXPECT_FALSE(mounted.exists("/a"));
  make_v1("a");
  EXPECT_FALSE(meter.read(sample_, buffer_).gone);
  EXPECT_TRUE(mounted.exists("/a"));
}

TEST_F(Meters, keep_real_descriptors_within_the_budget) {
  const CgroupMounts mounted = CgroupMounts::from(detect_cgroups("/"));
  if (!mounted.usable() || !mounted.memory.keep_open) GTEST_SKIP() << "no cgroups here";
  budget_.left = 2;
  {
    CgroupMeter meter(mounted, "", budget_);
    if (meter.read(sample_, buffer_).gone) GTEST_SKIP() << "the root cgroup has not all files";
    EXPECT_EQ(budget_.left, 0);
    EXPECT_GT(budget_.refused, 0);
    meter.read(sample_, buffer_);
    EXPECT_TRUE(sample_.has(CgroupField::cpu_ns));
  }
  EXPECT_EQ(budget_.left, 2);
}

}  // namespace
}  // namespace plim::node
