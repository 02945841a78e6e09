#include "pools/topology.hpp"

#include <gtest/gtest.h>

#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

TEST(Topology, reads_threads_numa_nodes_and_caches_from_sysfs) {
  testing::FakeHost host({.cpus = 16, .threads = 2, .numa_nodes = 2, .l3_groups = 4});
  auto read = read_topology(host.root());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->present.to_string(), "0-15");
  EXPECT_EQ(read->siblings(3), (CpuSet{3, 11}));
  EXPECT_EQ(read->numa(3), 0);
  EXPECT_EQ(read->numa(12), 1);
  EXPECT_EQ(read->l3(6), 3);
  EXPECT_EQ(read->kernel_max, 8191);
}

TEST(Topology, remembers_the_place_of_a_cpu_that_went_offline) {
  testing::FakeHost host({.cpus = 4, .threads = 2});
  auto read = read_topology(host.root());
  ASSERT_TRUE(read);
  EXPECT_FALSE(update_online(*read, host.root()));
  host.set_online({0, 1, 2});
  EXPECT_TRUE(update_online(*read, host.root()));
  EXPECT_EQ(read->online, (CpuSet{0, 1, 2}));
  EXPECT_EQ(read->siblings(3), (CpuSet{1, 3}));
}

TEST(Topology, reads_the_machine_it_runs_on) {
  auto read = read_topology("/");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->online.empty());
}

TEST(Topology, names_the_path_when_it_finds_nothing) {
  plim::testing::TempDir empty;
  auto read = read_topology(empty.path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("--host-root"), std::string::npos);
}

}  // namespace
}  // namespace plim::pools
