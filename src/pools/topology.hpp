// The CPUs of a machine and how near they are to each other, from sysfs.
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
  CpuSet siblings;  // threads of its core, itself among them
};

// Read once and again after CPUs went on- or offline; a CPU that is offline tells nothing about
// itself, so what was known before is kept by update().
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
// Which CPUs are online now; false: nothing changed.
bool update_online(Topology& topology, const std::string& host_root);

}  // namespace plim::pools
