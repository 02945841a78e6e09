// A fake machine: the files of sysfs that pools read.
#pragma once

#include <string>

#include <fmt/format.h>

#include "base/cpu_list.hpp"
#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "pools/topology.hpp"

namespace plim::pools::testing {

struct Machine {
  int cpus = 8;
  int threads = 1;     // siblings are `cpus / threads` apart, as on most servers
  int numa_nodes = 1;  // adjacent cores are in the same node
  int l3_groups = 1;   // of the whole machine
};

inline Topology make_topology(const Machine& machine) {
  Topology out;
  const int cores = machine.cpus / machine.threads;
  out.present = out.online = CpuSet::range(0, machine.cpus - 1);
  out.kernel_max = 8191;
  for (int cpu = 0; cpu < machine.cpus; ++cpu) {
    const int core = cpu % cores;
    Cpu& made = out.cpus[cpu];
    made.numa = core * machine.numa_nodes / cores;
    made.l3 = core * machine.l3_groups / cores;
    made.package = made.numa;
    for (int thread = 0; thread < machine.threads; ++thread)
      made.siblings.add(core + thread * cores);
  }
  return out;
}

class FakeHost {
 public:
  explicit FakeHost(const Machine& machine) : topology_(make_topology(machine)) {
    const std::string cpu = "/sys/devices/system/cpu/";
    put(cpu + "present", topology_.present.to_string() + "\n");
    put(cpu + "isolated", "\n");
    put(cpu + "kernel_max", "8191\n");
    set_online(topology_.online);
    for (const auto& [number, made] : topology_.cpus) {
      const std::string base = fmt::format("{}cpu{}/", cpu, number);
      put(base + "topology/physical_package_id", fmt::format("{}\n", made.package));
      put(base + "topology/core_cpus_list", made.siblings.to_string() + "\n");
      put(base + "cache/index3/id", fmt::format("{}\n", made.l3));
    }
    for (int node = 0; node < machine.numa_nodes; ++node) {
      CpuSet set;
      for (const auto& [number, made] : topology_.cpus)
        if (made.numa == node) set.add(number);
      put(fmt::format("/sys/devices/system/node/node{}/cpulist", node), set.to_string() + "\n");
    }
  }

  const std::string& root() const { return dir_.path(); }

  const Topology& topology() const { return topology_; }

  void set_online(const CpuSet& cpus) {
    put("/sys/devices/system/cpu/online", cpus.to_string() + "\n");
  }

  void put(const std::string& path, std::string_view text) {
    const std::string whole = dir_.path() + path;
    PLIM_ASSERT(make_directories(whole.substr(0, whole.rfind('/'))).has_value());
    PLIM_ASSERT(write_file(whole, text, {.mode = 0644, .sync = false}).has_value());
  }

 private:
  plim::testing::TempDir dir_{plim::testing::memory_directory()};
  Topology topology_;
};

}  // namespace plim::pools::testing
