#include "pools/pool_state.hpp"

#include <gtest/gtest.h>

#include "pools/cpuset_plan.hpp"
#include "pools/device_list.hpp"
#include "pools/pool_config.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

NodePools pools_from(std::string yaml, const Topology& machine) {
  Problems problems;
  auto loaded = load_node_pools({{"f", std::move(yaml)}}, {}, machine, {}, problems);
  EXPECT_TRUE(loaded) << (problems.errors.empty() ? "" : problems.errors[0]);
  return loaded.value_or(NodePools());
}

class PoolStateTest : public ::testing::Test {
 protected:
  PoolState state_of(const std::string& yaml, const testing::Machine& machine = {}) {
    machine_ = testing::make_topology(machine);
    PoolState out;
    out.configure(pools_from(yaml, machine_), machine_);
    out.clear({});
    return out;
  }

  static Holding holds(const std::string& uid, std::string pool, CpuSet cpus) {
    return {.pod = "ns/" + uid,
            .uid = uid,
            .container = "c",
            .pool = std::move(pool),
            .cpus = std::move(cpus)};
  }

  static std::string healthy(const PoolState& state, std::string_view pool) {
    std::string out;
    for (const node::Device& device : devices_of(state, pool))
      out += (out.empty() ? "" : " ") + device.id + (device.healthy ? "" : "!");
    return out;
  }

  Topology machine_;
  SteadyTime now_;
};

TEST_F(PoolStateTest, lists_exclusive_cpus_with_their_numa_node) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '1,5'}}", {.cpus = 8, .numa_nodes = 2});
  const auto devices = devices_of(state, "exclusive-a");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0], (node::Device{.id = "1", .healthy = true, .numa_nodes = {0}}));
  EXPECT_EQ(devices[1], (node::Device{.id = "5", .healthy = true, .numa_nodes = {1}}));
}

TEST_F(PoolStateTest, does_not_allocate_a_cpu_whose_sibling_is_in_use) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '1,2'}}", {.cpus = 8, .threads = 2});
  state.clear({5});  // the other thread of CPU 1
  EXPECT_EQ(healthy(state, "exclusive-a"), "1! 2");
  state.set_holdings({holds("u", "exclusive-a", {1})}, now_);
  EXPECT_EQ(healthy(state, "exclusive-a"), "1 2") << "who has it may start again";
}

TEST_F(PoolStateTest, keeps_a_thread_idle_that_its_pool_lists_only_later) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '1,2'}}", {.cpus = 8, .threads = 2});
  state.set_holdings({holds("u", "exclusive-a", {1})}, now_);
  state.configure(pools_from("pools: {exclusive-a: {cpus: '1,2,5,6'}}", machine_), machine_);
  state.clear({});
  EXPECT_EQ(healthy(state, "exclusive-a"), "1 2 5! 6") << "5 is the other thread of 1";
  state.set_holdings({}, now_);
  EXPECT_EQ(healthy(state, "exclusive-a"), "1 2 5 6");
}

TEST_F(PoolStateTest, lists_a_thousand_devices_for_each_shared_cpu) {
  PoolState state =
      state_of("pools: {shared-a: {cpus: '1-2'}, shared-b: {cpus: 3, sharedUnit: 100m}}");
  EXPECT_EQ(devices_of(state, "shared-a").size(), 2000u);
  EXPECT_EQ(devices_of(state, "shared-b").size(), 10u);
}

TEST_F(PoolStateTest, keeps_the_list_of_the_largest_shared_pool_below_4_mib) {
  PoolState state = state_of("pools: {shared-a: {cpus: '0-261'}}", {.cpus = 262});
  EXPECT_LT(node::encode_devices(devices_of(state, "shared-a")).size(), 4'194'304u);
}

TEST_F(PoolStateTest, rejects_devices_that_are_not_available) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '1-4'}, exclusive-b: {cpus: '5'}}");
  EXPECT_EQ(state.allocate("exclusive-a", {"7"}, now_).error().message,
            "CPU \"7\" is not in pool exclusive-a");
  EXPECT_FALSE(state.allocate("exclusive-a", {"x"}, now_));
  EXPECT_FALSE(state.allocate("nope", {"1"}, now_));
  state.set_online(CpuSet{0, 1, 2, 3, 5, 6, 7});
  EXPECT_EQ(state.allocate("exclusive-a", {"1", "4"}, now_).error().message,
            "CPU 4 of pool exclusive-a is offline");
  EXPECT_EQ(state.free_cpus(*state.pools().find("exclusive-a")), (CpuSet{1, 2, 3}))
      << "nothing was handed out";
  state.clear(CpuSet{2});
  EXPECT_EQ(state.allocate("exclusive-a", {"2"}, now_).error().message,
            "CPU 2 of pool exclusive-a is withheld");
  EXPECT_EQ(*state.allocate("exclusive-a", {"1", "3"}, now_), (CpuSet{1, 3}));
}

TEST_F(PoolStateTest, grants_siblings_if_the_pool_does) {
  PoolState state =
      state_of("pools: {exclusive-m: {cpus: '4,5', hyperThreadingPolicy: multiThreaded}}",
               {.cpus = 80, .threads = 2});
  EXPECT_EQ(*state.allocate("exclusive-m", {"4", "5"}, now_), (CpuSet{4, 5, 44, 45}));
}

TEST_F(PoolStateTest, a_cpu_that_moves_to_another_pool_drains_first) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4,5'}, exclusive-b: {cpus: '6'}}");
  state.set_holdings({holds("u1", "exclusive-a", {5})}, now_);
  state.configure(
      pools_from("pools: {exclusive-a: {cpus: '4'}, exclusive-b: {cpus: '5,6'}}", machine_),
      machine_);
  state.clear({});
  EXPECT_EQ(healthy(state, "exclusive-a"), "4 5") << "its container may be started again";
  EXPECT_EQ(healthy(state, "exclusive-b"), "5! 6");
  EXPECT_FALSE(state.allocate("exclusive-a", {"5"}, now_));
  EXPECT_FALSE(state.allocate("exclusive-b", {"5"}, now_));
  state.set_holdings({}, now_);
  EXPECT_EQ(healthy(state, "exclusive-a"), "4");
  EXPECT_EQ(healthy(state, "exclusive-b"), "5 6");
}

TEST_F(PoolStateTest, a_removed_pool_keeps_its_endpoint_until_it_is_empty) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4,5'}, shared-b: {cpus: '1'}}");
  state.set_holdings({holds("u1", "exclusive-a", {5})}, now_);
  state.configure(pools_from("pools: {shared-b: {cpus: '1,4-5'}}", machine_), machine_);
  EXPECT_EQ(endpoints_of(state), (std::vector<std::string>{"exclusive-a", "shared-b"}));
  EXPECT_EQ(healthy(state, "exclusive-a"), "5");
  EXPECT_EQ(state.shared_cpus(*state.pools().find("shared-b")), (CpuSet{1, 4}));
  state.set_holdings({}, now_);
  EXPECT_EQ(endpoints_of(state), (std::vector<std::string>{"shared-b"}));
  EXPECT_EQ(state.shared_cpus(*state.pools().find("shared-b")), (CpuSet{1, 4, 5}));
}

TEST_F(PoolStateTest, a_removed_shared_pool_keeps_the_devices_that_are_held) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4'}, shared-b: {cpus: '1'}}");
  Holding held = holds("u1", "shared-b", {});
  held.units = 2;
  held.unit_ids = {"A", "B"};
  state.set_holdings({held}, now_);
  EXPECT_EQ(devices_of(state, "shared-b").size(), 1000u);
  const auto without = pools_from("pools: {exclusive-a: {cpus: '4'}}", machine_);
  state.configure(without, machine_);
  state.set_holdings({held}, now_);
  EXPECT_EQ(endpoints_of(state), (std::vector<std::string>{"exclusive-a", "shared-b"}));
  EXPECT_EQ(healthy(state, "shared-b"), "A B") << "a kubelet that restarts admits its pod again";
  EXPECT_FALSE(state.allocate("shared-b", {"A"}, now_));
  state.set_holdings({}, now_);
  EXPECT_EQ(endpoints_of(state), std::vector<std::string>{"exclusive-a"});
}

TEST_F(PoolStateTest, a_changed_policy_is_for_new_allocations_only) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '2,3'}}", {.cpus = 8, .threads = 2});
  const Holding old = holds("u1", "exclusive-a", {2});
  state.set_holdings({old}, now_);
  state.configure(
      pools_from("pools: {exclusive-a: {cpus: '2,3', hyperThreadingPolicy: multiThreaded}}",
                 machine_),
      machine_);
  state.clear({});
  EXPECT_EQ(state.granted(old), CpuSet{2});
  EXPECT_EQ(*state.allocate("exclusive-a", {"3"}, now_), (CpuSet{3, 7}));
}

TEST_F(PoolStateTest, a_newly_exclusive_cpu_is_withheld_while_in_use) {
  PoolState state = state_of("pools: {shared-b: {cpus: '1,4'}}");
  state.configure(pools_from("pools: {exclusive-a: {cpus: '4'}, shared-b: {cpus: '1'}}", machine_),
                  machine_);
  EXPECT_EQ(healthy(state, "exclusive-a"), "4!");
  state.clear({});
  EXPECT_EQ(healthy(state, "exclusive-a"), "4");
}

TEST_F(PoolStateTest, withholds_cpus_that_the_kubelet_forgot) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4,5'}}");
  std::vector<LiveContainer> live{{.path = "p", .uid = "u1", .pod = "ns/u1"}};
  live[0].container = "c";
  live[0].pools = {"exclusive-a"};
  live[0].actual = {5};
  state.set_holdings(complete_holdings(state, {}, live, now_), now_);
  EXPECT_EQ(healthy(state, "exclusive-a"), "4 5!");
  EXPECT_EQ(plan_cpusets(state, live).targets[0].cpus, CpuSet{5});
  live[0].actual = CpuSet::range(0, 7);
  state.set_holdings({}, now_);
  EXPECT_TRUE(complete_holdings(state, {}, live, now_).empty())
      << "a set that was never written tells nothing";
}

TEST_F(PoolStateTest, keeps_what_the_kubelet_could_not_report_yet) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4,5'}}");
  ASSERT_TRUE(state.allocate("exclusive-a", {"4"}, now_));
  const SteadyTime later = now_ + std::chrono::seconds(25);
  state.keep_pending(later);  // the kubelet does not answer
  state.set_holdings({}, later + std::chrono::seconds(25));
  EXPECT_EQ(state.free_cpus(*state.pools().find("exclusive-a")), CpuSet{5});
  state.set_holdings({}, later + std::chrono::seconds(31));
  EXPECT_EQ(state.free_cpus(*state.pools().find("exclusive-a")), (CpuSet{4, 5}));
}

TEST_F(PoolStateTest, does_not_allocate_from_a_shared_pool_without_free_cpus) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4'}, shared-b: {cpus: '1'}}");
  state.set_holdings({holds("u1", "exclusive-a", {4})}, now_);
  state.configure(pools_from("pools: {shared-b: {cpus: '4'}}", machine_), machine_);
  const auto refused = state.allocate("shared-b", {"A"}, now_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no CPU of pool shared-b (4) is free"), std::string::npos);
  state.set_holdings({}, now_);
  EXPECT_EQ(*state.allocate("shared-b", {"A"}, now_), CpuSet{4});
}

TEST_F(PoolStateTest, offline_cpus_come_back) {
  PoolState state = state_of("pools: {exclusive-a: {cpus: '4,5'}, shared-b: {cpus: '1-2'}}");
  const Holding holding = holds("u1", "exclusive-a", {4, 5});
  state.set_holdings({holding}, now_);
  state.set_online(CpuSet{0, 1, 4, 6, 7});
  EXPECT_EQ(healthy(state, "exclusive-a"), "4 5!");
  EXPECT_EQ(state.granted(holding), CpuSet{4});
  EXPECT_EQ(state.shared_cpus(*state.pools().find("shared-b")), CpuSet{1});
  EXPECT_EQ(state.default_cpus(), (CpuSet{0, 6, 7}));
  state.set_online(CpuSet::range(0, 7));
  EXPECT_EQ(healthy(state, "exclusive-a"), "4 5");
}

}  // namespace
}  // namespace plim::pools
