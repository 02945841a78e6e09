// What is told when the kubelet gives CPUs out by itself, beside the pools.
#pragma once

#include <string>

#include "base/task.hpp"
#include "kube/config.hpp"

namespace plim::pools {

inline constexpr const char* kStaticManagerReason = "StaticCPUManager";
inline constexpr const char* kStaticManagerText =
    "the kubelet of this node runs the static CPU manager, which gives CPUs out too";

// As of KubeletRecords.
Task<std::string> ask_cpu_manager_policy(std::string kubelet_dir);

// One event on the node, for a process that does not go on. Best effort, for a few seconds.
Task<int> report_static_manager(kube::Config config, std::string node);

}  // namespace plim::pools
