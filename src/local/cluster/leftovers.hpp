// What a process that was killed leaves behind: pods outlive it, so that the next one can take them
// over. When there is to be no next one, they have to end.
#pragma once

#include <string>

#include "base/task.hpp"
#include "local/cluster/directories.hpp"

namespace plim::local::cluster {

// Ends whatever still runs for the pods of a node that nobody is in charge of.
Task<void> end_leftover_pods(std::string node_directory);

// The same for all nodes; cgroups and sockets go too. Only while nobody holds the cluster's lock.
Task<void> end_leftovers(ClusterDirectories directories);

// A file in a node's kubelet directory that says where its cgroups are, for whoever comes after.
inline constexpr std::string_view kCgroupNote = "cgroup-root";

}  // namespace plim::local::cluster
