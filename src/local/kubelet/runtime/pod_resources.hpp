// Resources of a pod's containers, and how a resize changes them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim::local::kubelet {

// The resources of all containers by name, init containers too.
json::object resources_of(const json::value& pod);
// The pod with these resources. Containers that are not named keep theirs.
json::value with_resources(json::value pod, const json::object& resources);

// For each container the larger of both amounts: a pod with these limits has room for containers
// in both sizes.
json::object larger_resources(const json::object& a, const json::object& b);

// True if a request of the pod for CPU or memory becomes smaller.
bool frees_resources(const json::value& from, const json::value& to);

// True if the container's resizePolicy says that it has to restart for this change.
bool needs_restart(const json::value& container, const json::value& from, const json::value& to);

// The message of an event, as kubelets write it: `prefix: {"containers":[…],"generation":2}`.
std::string resize_message(std::string_view prefix, const json::value& pod, std::int64_t generation,
                           std::string_view error = {});

}  // namespace plim::local::kubelet
