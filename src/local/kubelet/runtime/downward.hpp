// The downward API: fields of a pod's object and resources of its containers. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "base/result.hpp"

namespace plim::local::kubelet {

// Addresses and node of a pod, which its object does not have yet when its containers start.
struct PodPlace {
  std::string node, host_ip, pod_ip;
  Quantity cpu, memory;  // allocatable: the limit of a container without one
};

// fieldRef: "metadata.labels['app']", "status.podIP". Whole maps ("metadata.labels") become lines
// key="value", for files.
Result<std::string> field_value(const json::value& pod, const PodPlace& place,
                                std::string_view path);
// resourceFieldRef: {containerName, resource, divisor}. Without a name it refers to `container`.
Result<std::string> resource_value(const json::value& pod, const json::value& container,
                                   const PodPlace& place, const json::value& reference);

}  // namespace plim::local::kubelet
