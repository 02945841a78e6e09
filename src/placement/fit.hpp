// The requests that NodeResourcesFit checks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "placement/node_table.hpp"
#include "placement/pod_requests.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

// The requests of a pod that must fit, without the resources that `args` tells it to ignore.
std::vector<std::pair<ResourceId, std::int64_t>> needed_resources(const PodRequests& requests,
                                                                  const FitArgs& args,
                                                                  const NodeTable& table);

}  // namespace plim::placement
