// The same random steps as in history_test.cpp, with real cgroups and a process in each container:
// the kernel says where the processes may run. Needs root and the cpuset controller.
#include <csignal>
#include <filesystem>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "pools/setter.hpp"
#include "pools/testing/sim_node.hpp"

namespace plim::pools {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCpus = 8;

// A directory for cgroups of the test; "" if there can be none.
std::string make_cgroup_root() {
  for (const char* mount : {"/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"}) {
    const std::string v2 = read_file(std::string(mount) + "/cgroup.controllers").value_or("");
    if (!fs::exists(std::string(mount) + "/cpuset.cpus") && v2.find("cpuset") == v2.npos) continue;
    std::error_code error;
    const std::string root = fmt::format("{}/plimsoll-history-{}", mount, ::getpid());
    (void)write_existing_file(std::string(mount) + "/cgroup.subtree_control", "+cpuset");
    if (fs::create_directory(root, error) && fs::exists(root + "/cpuset.cpus")) return root;
    fs::remove(root, error);
  }
  return {};
}

// The CPUs 0 to n-1 that the kernel lets the test use, at most eight.
int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  int out = 0;
  while (out < kMostCpus && CPU_ISSET(out, &set)) ++out;
  return out;
}

class KernelNode : public testing::SimNode {
 public:
  KernelNode(unsigned seed, int cpus, std::string root)
      : SimNode(seed, {.cpus = cpus}),
        root_(std::move(root)),
        v2_(fs::exists(root_ + "/cgroup.controllers")),
        setter_(*CpusetTree::open({.host_root = "/", .cgroup_root = {}, .pods = root_}), clock_,
                Writing::allowed, {}) {
    make_cgroup(root_);
  }

  ~KernelNode() override { end_pods(); }

 protected:
  CpuSet set_of(const std::string& path) const override {
    cpu_set_t set;
    CPU_ZERO(&set);
    CpuSet out;
    if (::sched_getaffinity(processes_.at(path), sizeof set, &set) != 0) return out;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) out.add(cpu);
    return out;
  }

  void create(const std::string& path, const CpuSet&) override {
    const std::string directory = root_ + "/" + path;
    make_cgroup(directory.substr(0, directory.rfind('/')));
    make_cgroup(directory);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::pause();
      ::_exit(0);
    }
    processes_[path] = pid;
    ASSERT_TRUE(write_existing_file(directory + "/cgroup.procs", std::to_string(pid)));
  }

  void remove(const std::string& path) override {
    const pid_t pid = processes_.at(path);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    processes_.erase(path);
    std::error_code ignored;
    // The kernel takes a moment to forget a process that has ended.
    for (int tries = 0; tries < 1000 && !fs::remove(root_ + "/" + path, ignored); ++tries)
      ::usleep(1000);
    fs::remove((root_ + "/" + path).substr(0, (root_ + "/" + path).rfind('/')), ignored);
  }

  void overwrite(const std::string& path, const CpuSet& cpus) override {
    ASSERT_TRUE(write_existing_file(root_ + "/" + path + "/cpuset.cpus", cpus.to_string()));
  }

  CpuSet enforce(const std::vector<LiveContainer>& containers) override {
    std::vector<LiveContainer> placed = containers;
    for (LiveContainer& container : placed) container.path = root_ + "/" + container.path;
    return setter_.apply(state_, std::move(placed)).intruded;
  }

  // With few CPUs, pools often exchange all that they have, and sometimes nothing is left for
  // containers without a pool.
  NodePools make_pools() override {
    const char* names[] = {"exclusive-a", "exclusive-b", "shared-c", "default"};
    for (;;) {
      std::map<std::string, std::string> lists;
      for (int cpu = 0; cpu < cpus_; ++cpu) {
        const int to = upto(6);  // exclusive-a and shared-c are twice as likely
        std::string& list = lists[names[to == 4 ? 0 : to == 5 ? 2 : to]];
        list += fmt::format("{}{}", list.empty() ? "" : ",", cpu);
      }
      std::string yaml = upto(4) == 0 ? "resourceBaseName: example.com\npools:\n" : "pools:\n";
      for (const auto& [name, list] : lists)
        if (name != "default" || upto(2) == 0)
          yaml += fmt::format("  {}: {{cpus: '{}'{}}}\n", name, list,
                              name == "shared-c" ? ", sharedUnit: 100m" : "");
      Problems problems;
      auto loaded = load_node_pools({{"f", yaml}}, {}, machine_, {}, problems);
      if (loaded && !loaded->idle()) return std::move(*loaded);
    }
  }

  bool can_hotplug() const override { return false; }

  bool can_be_stuck() const override { return false; }

 private:
  void make_cgroup(const std::string& path) {
    std::error_code ignored;
    fs::create_directory(path, ignored);
    const std::string above = path.substr(0, path.rfind('/'));
    if (v2_) {
      (void)write_existing_file(above + "/cgroup.subtree_control", "+cpuset");
      return;
    }
    const std::string mems = read_file(above + "/cpuset.mems").value_or("0");
    ASSERT_TRUE(write_existing_file(path + "/cpuset.mems", trim(mems)));
    ASSERT_TRUE(write_existing_file(path + "/cpuset.cpus", all().to_string()));
  }

  std::string root_;
  bool v2_;
  FakeClock clock_;
  Setter setter_;
  std::map<std::string, pid_t> processes_;
};

TEST(KernelHistory, never_gives_a_cpu_two_owners_in_10000_random_steps) {
  const int cpus = usable_cpus();
  const std::string root = make_cgroup_root();
  if (root.empty() || cpus < 2) GTEST_SKIP() << "needs root, the cpuset controller and two CPUs";
  int allocations = 0, configurations = 0, waits = 0;
  for (unsigned seed = 1; seed <= 10 && !::testing::Test::HasFailure(); ++seed) {
    KernelNode node(seed, cpus, root);
    node.start();
    for (int step = 0; step < 1000 && !::testing::Test::HasFailure(); ++step) {
      node.step();
      EXPECT_EQ(node.violation(), "") << "seed " << seed << ", step " << step << "\n"
                                      << node.describe();
    }
    allocations += node.allocations;
    configurations += node.configurations;
    waits += node.waits;
  }
  std::error_code ignored;
  fs::remove(root, ignored);
  EXPECT_GT(allocations, 500);
  EXPECT_GT(configurations, 300);
  EXPECT_GT(waits, 50) << "no container ever had to wait for a pool whose CPUs others held";
}

}  // namespace
}  // namespace plim::pools
