// The machine below the tasks: how many CPUs of which kind, which NUMA nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plim::agent {

struct Machine {
  std::size_t cpus = 0, cores = 0, sockets = 0;  // 0: nothing says how many
  std::string model = "unknown", model_number = "unknown";
  std::vector<unsigned> numa_nodes = {};
};

// `host_root` is "" for the machine itself. What /proc/cpuinfo does not say, as on other
// architectures, /sys does.
Machine read_machine(const std::string& host_root);

}  // namespace plim::agent
