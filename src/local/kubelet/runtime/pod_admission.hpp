// Whether a node takes a pod that was bound to it: the kubelet's last look. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

// Neither Succeeded nor Failed: it holds its resources.
bool is_active(const json::value& pod);

// `others` are the active pods already on the node. Nothing: it fits.
std::optional<PodFailure> refuse_pod(const json::value& pod, const json::value& node,
                                     const std::vector<json::value>& others);

}  // namespace plim::local::kubelet
