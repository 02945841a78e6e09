// The quality of service class of a pod. It depends only on requests and limits.
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace plim::kube {

// "Guaranteed", "Burstable" or "BestEffort". Only cpu and memory count, init containers too; the
// pod-level resources, if set, replace those of its containers.
std::string_view qos_class(const json::value& pod);
std::string_view qos_class_of_spec(const json::value& spec);

}  // namespace plim::kube
