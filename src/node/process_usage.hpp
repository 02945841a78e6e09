// The usage of processes from /proc, for machines without cgroups.
#pragma once

#include <string>
#include <vector>

#include "node/cgroup_tree.hpp"

namespace plim::node {

// CPU time, including that of children that were waited for, and resident memory. Ignores processes
// that are gone.
CgroupUsage processes_usage(const std::vector<int>& pids, const std::string& proc = "/proc");

}  // namespace plim::node
