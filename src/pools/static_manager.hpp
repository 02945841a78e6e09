// Messages for when the kubelet's static CPU manager allocates CPUs too.
#pragma once

#include <string>

#include "base/task.hpp"
#include "kube/config.hpp"

namespace plim::pools {

inline constexpr const char* kStaticManagerReason = "StaticCPUManager";
inline constexpr const char* kStaticManagerText =
    "the kubelet of this node runs the static CPU manager, which allocates CPUs too";

// The policy as KubeletRecords::cpu_manager_policy() reports it.
Task<std::string> ask_cpu_manager_policy(std::string kubelet_dir);

// Records one event on the node before the process ends. Best effort, for a few seconds.
Task<int> report_static_manager(kube::Config config, std::string node);

}  // namespace plim::pools
