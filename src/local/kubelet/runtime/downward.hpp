// What a pod may ask about itself: fields of its object and amounts of its containers. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "base/result.hpp"

namespace plim::local::kubelet {

// Where a pod lies, which its object does not say yet when its containers start.
struct PodPlace {
  std::string node, host_ip, pod_ip;
  Quantity cpu, memory;  // allocatable: the limit of a container that has none
};

// fieldRef: "metadata.labels['app']", "status.podIP". Whole maps ("metadata.labels") come as lines
// key="value", for files.
Result<std::string> field_value(const json::value& pod, const PodPlace& place,
                                std::string_view path);
// resourceFieldRef: {containerName, resource, divisor}; without a name `container` is meant.
Result<std::string> resource_value(const json::value& pod, const json::value& container,
                                   const PodPlace& place, const json::value& reference);

}  // namespace plim::local::kubelet
