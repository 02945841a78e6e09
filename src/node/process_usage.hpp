// What processes use, from /proc, for machines without cgroups.
#pragma once

#include <string>
#include <vector>

#include "node/cgroup_tree.hpp"

namespace plim::node {

// CPU time with that of children that were waited for, and resident memory. Processes that are gone
// count for nothing.
CgroupUsage processes_usage(const std::vector<int>& pids, const std::string& proc = "/proc");

}  // namespace plim::node
