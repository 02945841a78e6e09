// Facts about the machine: number and model of CPUs, NUMA nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plim::agent {

struct Machine {
  std::size_t cpus = 0, cores = 0, sockets = 0;  // 0: unknown
  std::string model = "unknown", model_number = "unknown";
  std::vector<unsigned> numa_nodes = {};
};

// `host_root` is "" for the machine itself. Facts that /proc/cpuinfo lacks on some architectures
// come from /sys.
Machine read_machine(const std::string& host_root);

}  // namespace plim::agent
