// The pools of this node as they are, for when no agent runs.
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

// What describe_pools() tells, from files, the kubelet and cgroups; writes nothing. All mistakes of
// the configuration in one error.
Task<Result<json::value>> look_at_pools(LookOptions options, const Clock& clock);

}  // namespace plim::pools
