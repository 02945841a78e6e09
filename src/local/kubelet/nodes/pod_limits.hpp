// What a pod's spec means for its cgroups, as a kubelet reads it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "node/cgroup_names.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::local::kubelet {

// resources.<list>.<resource> of a container; zero when it is missing or no quantity.
Quantity amount_of(const json::value& container, std::string_view list, std::string_view resource);
const json::value* find_container(const json::value& pod, std::string_view name);  // init ones too
bool is_sidecar(const json::value& init_container);

// From status.qosClass, else computed.
node::Qos qos_of(const json::value& pod);
// What the scheduler counts: the larger of what runs together at the end and what each init
// container needs beside the sidecars before it, and the overhead.
Quantity pod_amount(const json::value& pod, std::string_view list, std::string_view resource);

node::CgroupLimits pod_limits(const json::value& pod);
node::CgroupLimits container_limits(const json::value& container);

}  // namespace plim::local::kubelet
