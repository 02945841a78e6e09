#include "pools/packing.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pools/device_ids.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

Pool pool_of(SmtPolicy smt = SmtPolicy::single) {
  Pool out{.name = "exclusive-a", .type = PoolType::exclusive};
  out.smt = smt;
  return out;
}

TEST(Packing, fills_the_fullest_node_that_has_enough) {
  const Topology machine = testing::make_topology({.cpus = 40, .numa_nodes = 2});
  const CpuSet free = CpuSet{4, 5, 6} | CpuSet::range(20, 27);
  EXPECT_EQ(choose_cpus(pool_of(), machine, free, {}, 3), (CpuSet{4, 5, 6}));
  EXPECT_EQ(choose_cpus(pool_of(), machine, free, {}, 4), (CpuSet{20, 21, 22, 23}));
  EXPECT_EQ(choose_cpus(pool_of(), machine, free, {}, 9).count(), 9);
  Pool spread = pool_of();
  spread.spread = true;
  EXPECT_EQ(choose_cpus(spread, machine, free, {}, 2), (CpuSet{20, 21}));
}

TEST(Packing, keeps_to_one_cache) {
  Topology machine = testing::make_topology({.cpus = 40, .numa_nodes = 2});
  for (int cpu : {20, 21, 22, 23}) machine.cpus[cpu].l3 = 7;
  for (int cpu : {24, 25}) machine.cpus[cpu].l3 = 8;
  EXPECT_EQ(choose_cpus(pool_of(), machine, CpuSet::range(20, 25), {}, 2), (CpuSet{24, 25}));
}

TEST(Packing, takes_whole_cores_where_threads_are_independent) {
  const Topology machine = testing::make_topology({.cpus = 8, .threads = 2});
  // Core 0 is broken: its other thread, 4, is in use.
  const CpuSet free{0, 1, 2, 5, 6};
  EXPECT_EQ(choose_cpus(pool_of(SmtPolicy::none), machine, free, {}, 2), (CpuSet{1, 5}));
  EXPECT_EQ(choose_cpus(pool_of(SmtPolicy::none), machine, free, {}, 1), (CpuSet{0}));
  EXPECT_EQ(choose_cpus(pool_of(SmtPolicy::none), machine, free, {}, 3), (CpuSet{0, 1, 5}));
}

TEST(Packing, chooses_exactly_the_size_and_includes_must) {
  std::mt19937 random(7);
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 10'000; ++round) {
    const int threads = 1 + upto(2), nodes = 1 + upto(4);
    const int cpus = threads * nodes * (1 + upto(8));
    const Topology machine = testing::make_topology(
        {.cpus = cpus, .threads = threads, .numa_nodes = nodes, .l3_groups = nodes});
    CpuSet free, must;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (upto(3) > 0) free.add(cpu);
      if (free.contains(cpu) && upto(6) == 0) must.add(cpu);
    }
    if (free.empty()) continue;
    const int size = must.count() + upto(free.count() - must.count() + 1);
    Pool pool = pool_of(static_cast<SmtPolicy>(upto(3)));
    pool.spread = upto(2) == 0;
    const CpuSet got = choose_cpus(pool, machine, free, must, size);
    ASSERT_EQ(got.count(), size) << round;
    ASSERT_TRUE(must.is_subset_of(got)) << round;
    ASSERT_TRUE(got.is_subset_of(free)) << round;
    ASSERT_EQ(got, choose_cpus(pool, machine, free, must, size)) << "it is deterministic";
  }
}

TEST(DeviceIds, of_shared_pools_are_short_and_never_numbers) {
  std::vector<std::string> ids = shared_ids(262'000);
  for (const std::string& id : ids) {
    ASSERT_LE(id.size(), 3u);
    ASSERT_FALSE(cpu_of_id(id));
  }
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_EQ(cpu_of_id("12"), 12);
  EXPECT_EQ(cpu_of_id("99999999999"), std::nullopt);
}

}  // namespace
}  // namespace plim::pools
