#include "node/cgroup_tree.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "node/cgroup_files.hpp"

namespace plim::node {
namespace {

using plim::testing::TempDir;

void put(const std::string& path, std::string_view text) {
  ASSERT_TRUE(make_directories(std::filesystem::path(path).parent_path()));
  ASSERT_TRUE(write_file(path, text));
}

std::string get(const std::string& path) {
  return read_cgroup_file(path);
}

// The layout of version 1 that systemd creates.
struct FakeV1 {
  FakeV1() {
    for (const char* name : {"cpu,cpuacct", "memory", "cpuset", "pids", "freezer"})
      EXPECT_TRUE(make_directories(at(name)));
    put(at("cpuset/cpuset.cpus"), "0-7\n");
    put(at("cpuset/cpuset.mems"), "0\n");
  }

  std::string at(const std::string& name) const { return host / ("sys/fs/cgroup/" + name); }

  TempDir host;
};

struct FakeV2 {
  explicit FakeV2(std::string_view controllers = "cpuset cpu io memory pids") {
    put(at("cgroup.controllers"), controllers);
  }

  std::string at(const std::string& name) const { return host / ("sys/fs/cgroup/" + name); }

  TempDir host;
};

TEST(CgroupTree, writes_limits_of_version_1) {
  FakeV1 machine;
  auto top = CgroupTree::make_below_own(machine.host.path(), "plimsoll-t");
  ASSERT_TRUE(top) << top.error().message;
  EXPECT_EQ(top->path(), "/plimsoll-t");
  auto tree = top->make_below("a/b");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->path(), "/plimsoll-t/a/b");
  EXPECT_EQ(get(machine.at("cpuset/plimsoll-t/a/b/cpuset.cpus")), "0-7");
  EXPECT_EQ(get(machine.at("cpuset/plimsoll-t/a/b/cpuset.mems")), "0");
  CgroupLimits limits{
      .shares = 512, .quota_us = 50'000, .memory = 1 << 20, .pids = 100, .cpus = "1-2"};
  ASSERT_TRUE(tree->apply(limits));
  EXPECT_EQ(get(machine.at("cpu,cpuacct/plimsoll-t/a/b/cpu.shares")), "512");
  EXPECT_EQ(get(machine.at("cpu,cpuacct/plimsoll-t/a/b/cpu.cfs_period_us")), "100000");
  EXPECT_EQ(get(machine.at("cpu,cpuacct/plimsoll-t/a/b/cpu.cfs_quota_us")), "50000");
  EXPECT_EQ(get(machine.at("memory/plimsoll-t/a/b/memory.limit_in_bytes")), "1048576");
  EXPECT_EQ(get(machine.at("pids/plimsoll-t/a/b/pids.max")), "100");
  EXPECT_EQ(get(machine.at("cpuset/plimsoll-t/a/b/cpuset.cpus")), "1-2");
  CgroupLimits none{.quota_us = CgroupLimits::kUnlimited, .pids = CgroupLimits::kUnlimited};
  ASSERT_TRUE(tree->apply(none));
  EXPECT_EQ(get(machine.at("cpu,cpuacct/plimsoll-t/a/b/cpu.cfs_quota_us")), "-1");
  EXPECT_EQ(get(machine.at("pids/plimsoll-t/a/b/pids.max")), "max");
  ASSERT_TRUE(top->remove());
  EXPECT_FALSE(std::filesystem::exists(machine.at("memory/plimsoll-t")));
}

TEST(CgroupTree, writes_limits_of_version_2) {
  FakeV2 machine;
  auto top = CgroupTree::make_below_own(machine.host.path(), "plimsoll-t");
  ASSERT_TRUE(top) << top.error().message;
  auto tree = top->make_below("a");
  ASSERT_TRUE(tree);
  EXPECT_EQ(get(machine.at("cgroup.subtree_control")), "+cpu +cpuset +memory +pids");
  EXPECT_EQ(get(machine.at("plimsoll-t/cgroup.subtree_control")), "+cpu +cpuset +memory +pids");
  CgroupLimits limits{.shares = 1024, .quota_us = 50'000, .memory = CgroupLimits::kUnlimited};
  ASSERT_TRUE(tree->apply(limits));
  EXPECT_EQ(get(machine.at("plimsoll-t/a/cpu.weight")), "39");
  EXPECT_EQ(get(machine.at("plimsoll-t/a/cpu.max")), "50000 100000");
  EXPECT_EQ(get(machine.at("plimsoll-t/a/memory.max")), "max");
  ASSERT_TRUE(tree->apply({.quota_us = CgroupLimits::kUnlimited}));
  EXPECT_EQ(get(machine.at("plimsoll-t/a/cpu.max")), "max 100000");
}

TEST(CgroupTree, reads_usage_of_both_versions) {
  FakeV1 old;
  const CgroupTree v1 = *CgroupTree::make_below_own(old.host.path(), "t");
  put(old.at("cpu,cpuacct/t/cpuacct.usage"), "123456\n");
  put(old.at("cpu,cpuacct/t/cpu.stat"), "nr_periods 10\nnr_throttled 3\nthrottled_time 77\n");
  put(old.at("memory/t/memory.usage_in_bytes"), "1000\n");
  put(old.at("memory/t/memory.stat"), "inactive_file 1\ntotal_rss 600\ntotal_inactive_file 300\n");
  put(old.at("memory/t/memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  FakeV2 unified;
  const CgroupTree v2 = *CgroupTree::make_below_own(unified.host.path(), "t");
  put(unified.at("t/cpu.stat"), "usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 7\n");
  put(unified.at("t/memory.current"), "1000\n");
  put(unified.at("t/memory.stat"), "anon 600\ninactive_file 300\n");
  put(unified.at("t/memory.events"), "oom 9\noom_kill 2\n");
  for (const CgroupTree* tree : {&v1, &v2}) {
    const auto usage = tree->usage();
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->cpu_ns, tree == &v1 ? 123456u : 5000u);
    EXPECT_EQ(usage->throttled_ns, tree == &v1 ? 77u : 7000u);
    EXPECT_EQ(usage->periods, 10u);
    EXPECT_EQ(usage->throttled_periods, 3u);
    EXPECT_EQ(usage->memory_bytes, 1000u);
    EXPECT_EQ(usage->working_set_bytes, 700u);
    EXPECT_EQ(usage->rss_bytes, 600u);
    EXPECT_EQ(usage->oom_kills, 2u);
    EXPECT_FALSE(tree->below("gone").usage());
  }
}

TEST(CgroupTree, has_one_path_below_the_deepest_of_our_own) {
  FakeV1 machine;
  put(machine.host / "proc/self/cgroup", "4:memory:/jobs/7\n2:cpu,cpuacct:/\n1:pids:/jobs\n");
  const auto top = CgroupTree::make_below_own(machine.host.path(), "t");
  ASSERT_TRUE(top);
  EXPECT_EQ(top->path(), "/jobs/7/t");
  for (const char* name : {"memory", "cpu,cpuacct", "pids", "cpuset"})
    EXPECT_TRUE(std::filesystem::exists(machine.at(std::string(name) + "/jobs/7/t"))) << name;
  EXPECT_EQ(get(machine.at("cpuset/jobs/cpuset.cpus")), "0-7");
  ASSERT_TRUE(top->remove_own());
  EXPECT_FALSE(std::filesystem::exists(machine.at("cpu,cpuacct/jobs")))
      << "it was created only for us";
  EXPECT_FALSE(std::filesystem::exists(machine.at("pids/jobs/7")));
  EXPECT_TRUE(std::filesystem::exists(machine.at("pids/jobs"))) << "we are in it";
  EXPECT_TRUE(std::filesystem::exists(machine.at("memory/jobs/7")));
}

TEST(CgroupTree, does_not_nest_when_started_by_itself) {
  FakeV2 machine;
  put(machine.host / "proc/self/cgroup", "0::/user.slice/t/control\n");
  put(machine.at("user.slice/cgroup.controllers"), "cpu memory");
  EXPECT_EQ(CgroupTree::make_below_own(machine.host.path(), "t")->path(), "/user.slice/t");
}

TEST(CgroupTree, reports_why_there_is_none) {
  TempDir empty;
  EXPECT_EQ(CgroupTree::make_below_own(empty.path(), "t").error().message,
            "no cgroup hierarchy is mounted");
  FakeV2 bare("");
  EXPECT_EQ(CgroupTree::make_below_own(bare.host.path(), "t").error().message,
            "no cgroup controller is available");
  FakeV2 frozen;
  put(frozen.host / "proc/1/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(CgroupTree::make_below_own(frozen.host.path(), "t").error().message,
            frozen.at("").substr(0, frozen.at("").size() - 1) + " is mounted read-only");
}

TEST(CgroupTree, rejects_names_that_leave_the_cgroup) {
  FakeV1 machine;
  const CgroupTree top = *CgroupTree::make_below_own(machine.host.path(), "t");
  for (std::string_view bad : {"..", "a/../../b", "", "a//b"})
    EXPECT_EQ(top.make_below(bad).error().code, Code::invalid) << bad;
}

// The hierarchies of this machine in which this process is at the root: other cgroups may belong
// to a service that accounts for us.
std::vector<CgroupTree::Branch> real_branches() {
  std::vector<CgroupTree::Branch> out;
  const CgroupLayout layout = detect_cgroups("/");
  const auto self = CgroupMembership::parse(read_file("/proc/self/cgroup").value_or(""));
  for (const CgroupMount& mount : layout.mounts) {
    const bool ours = !mount.v2 || mount.controllers.empty();
    if (!ours || mount.read_only || self.path_in(mount) != "/" || mount.root != "/") continue;
    if (::access(mount.directory.c_str(), W_OK) == 0)
      out.push_back({mount.directory, mount.controllers, mount.v2});
  }
  return out;
}

// A process that enters `tree` and waits there.
int start_inside(const CgroupTree& tree) {
  const std::vector<std::string> files = tree.procs_files();
  std::array<int, 2> ready{};
  EXPECT_EQ(::pipe(ready.data()), 0);
  const int pid = ::fork();
  if (pid == 0) {
    bool entered = true;
    for (const std::string& file : files) entered = entered && write_existing_file(file, "0");
    const char answer = entered ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  EXPECT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  return pid;
}

class RealCgroups : public ::testing::Test {
 protected:
  void SetUp() override {
    branches_ = real_branches();
    if (branches_.empty()) GTEST_SKIP() << "no cgroup hierarchy of this machine can be used";
    auto made = CgroupTree(branches_).make_below(fmt::format("plimsoll-test-{}", ::getpid()));
    if (!made) GTEST_SKIP() << made.error().message;
    tree_ = *made;
  }

  void TearDown() override {
    if (!tree_.exists()) return;
    tree_.kill();
    EXPECT_TRUE(tree_.remove());
  }

  std::vector<CgroupTree::Branch> branches_;
  CgroupTree tree_;
};

TEST_F(RealCgroups, hold_limit_and_end_processes) {
  auto child = tree_.make_below("n1/kubepods");
  ASSERT_TRUE(child) << child.error().message;
  CgroupLimits limits{.shares = 512, .quota_us = 50'000, .pids = 10};
  auto applied = child->apply(limits);
  ASSERT_TRUE(applied) << applied.error().message;
  const int pid = start_inside(*child);
  EXPECT_EQ(tree_.processes(), std::vector{pid});
  EXPECT_EQ(tree_.remove().error().code, Code::conflict);
  EXPECT_TRUE(child->usage());
  tree_.kill();
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(tree_.processes().empty());
  EXPECT_TRUE(tree_.remove());
  EXPECT_FALSE(tree_.exists());
}

TEST_F(RealCgroups, end_processes_by_the_freezer_too) {
  std::erase_if(branches_, [](const CgroupTree::Branch& branch) { return branch.v2; });
  const CgroupTree v1 =
      CgroupTree(branches_).below(tree_.path().substr(1));  // the same, without cgroup.kill
  ASSERT_TRUE(v1.exists());
  const int pid = start_inside(v1);
  v1.kill();
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

}  // namespace
}  // namespace plim::node
