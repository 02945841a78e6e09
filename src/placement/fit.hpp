// What a pod's requests come to for NodeResourcesFit.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "placement/node_table.hpp"
#include "placement/pod_requests.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

// The resources of a pod that must fit, those it was told to ignore left out.
std::vector<std::pair<ResourceId, std::int64_t>> needed_resources(const PodRequests& requests,
                                                                  const FitArgs& args,
                                                                  const NodeTable& table);

}  // namespace plim::placement
