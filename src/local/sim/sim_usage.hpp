// The simulated resource usage of the pods on a node. Pure.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "node/pod_usage.hpp"

namespace plim::local::sim {

// Computed from the annotations of running pods.
node::NodeUsage pretended_usage(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                                WallTime now);

}  // namespace plim::local::sim
