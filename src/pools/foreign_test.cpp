#include "pools/foreign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pools/pool_config.hpp"
#include "pools/pool_view.hpp"
#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

struct Thread {
  char state = 'R';
  std::string cpus = "0-7";
};

void add_process(testing::FakeHost& host, int pid, const std::string& cgroup,
                 const std::vector<Thread>& threads, bool kernel = false) {
  const std::string base = fmt::format("/proc/{}/", pid);
  host.put(base + "comm", fmt::format("p{}\n", pid));
  host.put(base + "cgroup", fmt::format("3:cpuset:{}\n", cgroup));
  int number = pid;
  for (const Thread& thread : threads)
    host.put(
        fmt::format("{}task/{}/status", base, number++),
        fmt::format("Name:\tp\nState:\t{} (what)\n{}Cpus_allowed:\tff\nCpus_allowed_list:\t{}\n",
                    thread.state, kernel ? "" : "VmSize:\t  100 kB\n", thread.cpus));
}

TEST(ForeignProcesses, are_runnable_host_processes_on_these_cpus) {
  testing::FakeHost host({.cpus = 8});
  add_process(host, 10, "/", {{'R', "0-7"}});
  add_process(host, 11, "/", {{'S', "0-7"}});                            // sleeps
  add_process(host, 12, "/", {{'R', "0-3"}});                            // on other CPUs
  add_process(host, 13, "/", {{'R', "0-7"}}, true);                      // a kernel thread
  add_process(host, 14, "/kubepods/burstable/podx/c", {{'R', "4"}});     // of a pod
  add_process(host, 15, "/kubepods.slice/kubepods-podx.slice/c", {{}});  // a pod too
  add_process(host, 16, "/system.slice/d", {{'S', "0-7"}, {'R', "5-6"}});
  host.put("/proc/uptime", "1 2\n");
  const auto found = foreign_processes(host.root(), CpuSet{4, 5});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, 10);
  EXPECT_EQ(found[0].name, "p10");
  EXPECT_EQ(found[0].cpus.to_string(), "4-5");
  EXPECT_EQ(found[1].pid, 16);
  EXPECT_EQ(found[1].cpus.to_string(), "5");
  EXPECT_TRUE(foreign_processes(host.root(), {}).empty());
}

TEST(ForeignProcesses, have_a_sign_of_their_own_in_the_map) {
  const Topology machine = testing::make_topology({.cpus = 8});
  Problems problems;
  auto pools =
      load_node_pools({{"f", "pools: {exclusive-a: {cpus: '4-6'}, shared-s: {cpus: '1'}}"}}, {},
                      machine, {}, problems);
  ASSERT_TRUE(pools);
  PoolState state;
  state.configure(std::move(*pools), machine);
  Holding held{.pod = "ns/p", .uid = "u", .container = "c", .pool = "exclusive-a"};
  held.cpus = CpuSet{4};
  state.set_holdings({held}, SteadyTime());
  const auto cells = [&](const std::vector<ForeignProcess>& foreign) {
    std::string out;
    const json::value described = describe_pools(state, "n", foreign);
    for (const json::value& cpu : described.at("cpus").get_array()) out += text_at(cpu, {"cell"});
    return out;
  };
  EXPECT_EQ(cells({}), ".s..AEE.");
  EXPECT_EQ(cells({{7, "sshd", CpuSet{4, 6}}}), ".s..!E!.");
  const json::value described = describe_pools(state, "n", {{7, "sshd", CpuSet{4, 6}}});
  EXPECT_EQ(to_json(described.at("foreign")), R"([{"pid":7,"name":"sshd","cpus":"4,6"}])");
}

}  // namespace
}  // namespace plim::pools
