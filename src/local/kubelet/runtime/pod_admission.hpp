// Checks whether a node accepts a pod that was bound to it, like a kubelet. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

// Neither Succeeded nor Failed: it holds its resources.
bool is_active(const json::value& pod);

// `others` are the active pods already on the node. None: the pod fits.
std::optional<PodFailure> refuse_pod(const json::value& pod, const json::value& node,
                                     const std::vector<json::value>& others);

// The same for a running pod that asks for other resources; only these count.
std::optional<PodFailure> refuse_resize(json::value pod, const json::value& node,
                                        std::vector<json::value> others);

}  // namespace plim::local::kubelet
