// What a pod asks for, under the names that allocators and labels use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/types.hpp"

namespace plim::agent {

// Sums over containers and sidecars; a resource that nobody names is not in it. `odd` gets what
// could not be read.
std::map<std::string, double> resources_of(const kube::PodSpec& spec,
                                           const kube::ResourceList& pod_level_requests,
                                           std::vector<std::string>& odd);

}  // namespace plim::agent
