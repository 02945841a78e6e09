// Pods of this node as tasks, from the kubelet or the API server.
#pragma once

#include <memory>
#include <string>

#include "agent/config.hpp"
#include "agent/task_source.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

// Polls in its own task, so that a slow kubelet does not delay the measurement. With a sync
// interval of 0 each iteration waits for the answer. `mounts` must outlive it.
Result<std::unique_ptr<TaskSource>> make_kubernetes_source(Executor loop, Clock& clock,
                                                           KubernetesNodeConfig config,
                                                           double interval,
                                                           const node::CgroupMounts& mounts);

}  // namespace plim::agent
