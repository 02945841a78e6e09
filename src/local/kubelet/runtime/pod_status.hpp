// From the facts about a pod's containers to the status a kubelet would write. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

// Every init container has done its work; sidecars count once they have started.
bool is_initialized(const PodFacts& facts);

// Pending, Running, Succeeded or Failed.
std::string_view phase_of(RestartPolicy policy, const PodFacts& facts);

// The whole status. `pod` gives the spec and the status so far: conditions of others stay, and a
// condition that stays as it was keeps its time.
json::value make_pod_status(const json::value& pod, const PodFacts& facts, WallTime now);

// For a pod the node does not take.
json::value make_rejected_status(const json::value& pod, const PodFailure& why, WallTime now);

}  // namespace plim::local::kubelet
