// Ends what a killed process has left. Pods outlive it, so that the next process can take them
// over; without a next process they have to be ended.
#pragma once

#include <string>

#include "base/task.hpp"
#include "local/cluster/directories.hpp"

namespace plim::local::cluster {

// Ends everything that still runs for the pods of a node whose process is gone.
Task<void> end_leftover_pods(std::string node_directory);

// The same for all nodes; also removes cgroups and sockets. Only while no process holds the lock.
Task<void> end_leftovers(ClusterDirectories directories);

// A file in a node's kubelet directory that names its cgroup, for the cleanup here.
inline constexpr std::string_view kCgroupNote = "cgroup-root";

}  // namespace plim::local::cluster
