// The current pools of this node, for commands that run without an agent.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "pools/pool_config.hpp"

namespace plim::pools {

struct LookOptions {
  std::vector<std::string> config;
  std::string node_name = {};
  std::string host_root = "/";
  std::string kubelet_dir = "/var/lib/kubelet";
  std::string cgroup_root = {};
  NodeLabels labels = {};
};

// The output of describe_pools() from files, the kubelet and cgroups. Writes nothing. The error has
// all mistakes of the configuration.
Task<Result<json::value>> look_at_pools(LookOptions options, const Clock& clock);

}  // namespace plim::pools
