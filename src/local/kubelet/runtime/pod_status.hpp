// Computes the status that a kubelet would write from the facts about a pod's containers. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

// True if every init container has finished; a sidecar counts once it has started.
bool is_initialized(const PodFacts& facts);

// Pending, Running, Succeeded or Failed.
std::string_view phase_of(RestartPolicy policy, const PodFacts& facts);

// The whole status. `pod` has the spec and the previous status: conditions of other writers stay,
// and an unchanged condition keeps its time.
json::value make_pod_status(const json::value& pod, const PodFacts& facts, WallTime now);

// The status of a pod that the node rejects.
json::value make_rejected_status(const json::value& pod, const PodFailure& why, WallTime now);

}  // namespace plim::local::kubelet
