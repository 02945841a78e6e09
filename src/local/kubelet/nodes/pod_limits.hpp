// The cgroup values that follow from a pod's spec, computed like a kubelet's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "node/cgroup_names.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::local::kubelet {

// resources.<list>.<resource> of a container; zero if it is missing or not a quantity.
Quantity amount_of(const json::value& container, std::string_view list, std::string_view resource);
// Looks at init containers too.
const json::value* find_container(const json::value& pod, std::string_view name);
bool is_sidecar(const json::value& init_container);

// Taken from status.qosClass, or computed if that is missing.
node::Qos qos_of(const json::value& pod);
// The amount that the scheduler counts, plus the overhead. It is the larger of two: the requests
// of the containers and sidecars that run together, and the request of each init container plus the
// sidecars started before it.
Quantity pod_amount(const json::value& pod, std::string_view list, std::string_view resource);

node::CgroupLimits pod_limits(const json::value& pod);
node::CgroupLimits container_limits(const json::value& container);

}  // namespace plim::local::kubelet
