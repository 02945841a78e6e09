// Programs of the host that may run where nobody but the holder of a CPU should.
#pragma once

#include <string>
#include <vector>

#include "base/cpu_list.hpp"

namespace plim::pools {

struct ForeignProcess {
  int pid = 0;
  std::string name;
  CpuSet cpus;  // of those asked for, where it may run
};

// Who wants to run now, has some of `cpus` in the affinity of a thread, and is neither a pod's, nor
// the kernel's, nor this process. Short reads of kernel files only, several for each process: for
// who asks, not for a loop.
std::vector<ForeignProcess> foreign_processes(const std::string& host_root, const CpuSet& cpus);

}  // namespace plim::pools
