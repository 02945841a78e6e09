// Usage in the forms a kubelet has for it.
#pragma once

#include <string>

#include "base/json.hpp"
#include "local/nodes/usage_sampler.hpp"

namespace plim::local {

json::value stats_summary(const std::string& node, const NodeUsage& usage);
std::string resource_metrics(const NodeUsage& usage);                       // /metrics/resource
std::string cadvisor_metrics(const NodeUsage& usage, CgroupDriver driver);  // /metrics/cadvisor

}  // namespace plim::local
