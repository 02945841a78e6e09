// The CPUs of a machine with their cores, caches and NUMA nodes, from sysfs.
#pragma once

#include <map>
#include <string>

#include "base/cpu_list.hpp"
#include "base/result.hpp"

namespace plim::pools {

struct Cpu {
  int package = 0;
  int numa = 0;
  int l3 = 0;       // the last-level cache it uses
  CpuSet siblings;  // threads of its core, including itself
};

// Read at the start, and again after CPUs went online or offline. sysfs has no data about an
// offline CPU, so update() keeps the old data.
struct Topology {
  CpuSet present, online, isolated;
  int kernel_max = 0;  // the highest number this kernel can have
  std::map<int, Cpu> cpus;

  CpuSet siblings(int cpu) const;  // at least the CPU itself
  int numa(int cpu) const;
  int l3(int cpu) const;
  CpuSet siblings_of(const CpuSet& cpus) const;
};

Result<Topology> read_topology(const std::string& host_root);
// Reads again which CPUs are online; false: nothing changed.
bool update_online(Topology& topology, const std::string& host_root);

}  // namespace plim::pools
