// Finds processes of the host that may run on exclusive CPUs.
#pragma once

#include <string>
#include <vector>

#include "base/cpu_list.hpp"

namespace plim::pools {

struct ForeignProcess {
  int pid = 0;
  std::string name;
  CpuSet cpus;  // the given CPUs on which it may run
};

// Runnable processes with a thread that may run on some of `cpus`, without processes of pods, of
// the kernel and this one. Reads several kernel files per process: call it on request, not
// periodically.
std::vector<ForeignProcess> foreign_processes(const std::string& host_root, const CpuSet& cpus);

}  // namespace plim::pools
