// The resource requests of a pod, under the names that allocators and labels use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/types.hpp"

namespace plim::agent {

// Sums over containers and sidecars, only of resources that at least one requests. `odd` gets
// messages about amounts that could not be read.
std::map<std::string, double> resources_of(const kube::PodSpec& spec,
                                           const kube::ResourceList& pod_level_requests,
                                           std::vector<std::string>& odd);

}  // namespace plim::agent
