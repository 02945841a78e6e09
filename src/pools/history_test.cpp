// A node in random steps: no CPU may ever have two owners. Here the cpusets are in memory, for
// machines of any shape; kernel_history_test.cpp has those of the kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pools/testing/sim_node.hpp"

namespace plim::pools {
namespace {

constexpr int kSimCpus = 16;

class ModelNode : public testing::SimNode {
 public:
  explicit ModelNode(unsigned seed)
      : SimNode(seed, {.cpus = kSimCpus, .threads = 2, .numa_nodes = 2}) {}

 protected:
  CpuSet set_of(const std::string& path) const override { return sets_.at(path); }

  void create(const std::string& path, const CpuSet& cpus) override { sets_[path] = cpus; }

  void remove(const std::string& path) override { sets_.erase(path); }

  void overwrite(const std::string& path, const CpuSet& cpus) override { sets_[path] = cpus; }

  CpuSet enforce(const std::vector<LiveContainer>& containers) override {
    std::vector<CpuSet> actual;
    const CpusetPlan plan = plan_cpusets(state_, containers);
    std::vector<bool> refused(containers.size(), false);
    for (int round = 0;; ++round) {
      actual.clear();
      for (const LiveContainer& container : containers) actual.push_back(sets_.at(container.path));
      const auto writes = order_writes(actual, plan.targets, state_.guarded(), refused);
      if (writes.empty() || round == 5) break;
      for (const CpusetWrite& write : writes) {
        const std::string& path = containers[write.container].path;
        refused[write.container] = is_stuck(path);
        if (!is_stuck(path)) sets_[path] = write.cpus;
      }
    }
    return intruded_cpus(actual, plan.targets, state_.guarded());
  }

  NodePools make_pools() override {
    for (;;) {
      std::vector<std::string> lists(4);
      for (int cpu = 1; cpu < kSimCpus; ++cpu) {
        if (cpu == kSimCpus / 2) continue;  // the core of CPU 0 is for those without a pool
        std::string& list = lists[static_cast<std::size_t>(upto(4))];
        list += fmt::format("{}{}", list.empty() ? "" : ",", cpu);
      }
      std::string yaml = upto(3) == 0 ? "resourceBaseName: example.com\npools:\n" : "pools:\n";
      const char* policies[] = {"singleThreaded", "multiThreaded", "none"};
      const char* names[] = {"exclusive-a", "exclusive-b", "shared-c"};
      for (int i = 0; i < 3; ++i) {
        const std::string& list = lists[static_cast<std::size_t>(i)];
        if (list.empty() || upto(6) == 0) continue;
        yaml += fmt::format("  {}: {{cpus: '{}'", names[i], list);
        if (i == 2) yaml += ", sharedUnit: 100m";
        if (i < 2) yaml += fmt::format(", hyperThreadingPolicy: {}", policies[upto(3)]);
        yaml += "}\n";
      }
      Problems problems;
      auto loaded = load_node_pools({{"f", yaml}}, {}, machine_, {}, problems);
      if (loaded && !loaded->idle()) return std::move(*loaded);
    }
  }

 private:
  std::map<std::string, CpuSet> sets_;
};

TEST(History, never_gives_a_cpu_two_owners_in_10000_random_steps) {
  int allocations = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    ModelNode node(seed);
    node.start();
    for (int step = 0; step < 1000; ++step) {
      node.step();
      ASSERT_EQ(node.violation(), "") << "seed " << seed << ", step " << step << "\n"
                                      << node.describe();
    }
    allocations += node.allocations;
  }
  EXPECT_GT(allocations, 1000) << "the history was not worth its name";
}

}  // namespace
}  // namespace plim::pools
