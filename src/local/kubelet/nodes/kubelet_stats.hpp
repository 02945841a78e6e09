// Usage in the formats of a kubelet.
#pragma once

#include <string>

#include "base/json.hpp"
#include "local/kubelet/nodes/usage_sampler.hpp"

namespace plim::local::kubelet {

json::value stats_summary(const std::string& node, const node::NodeUsage& usage);
std::string resource_metrics(const node::NodeUsage& usage);  // /metrics/resource
std::string cadvisor_metrics(const node::NodeUsage& usage,
                             CgroupDriver driver);  // /metrics/cadvisor

}  // namespace plim::local::kubelet
