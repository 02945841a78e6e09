// What the pods of a simulated node pretend to use. Pure.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "node/pod_usage.hpp"

namespace plim::local::sim {

// From the annotations of the pods that run.
node::NodeUsage pretended_usage(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                                WallTime now);

}  // namespace plim::local::sim
