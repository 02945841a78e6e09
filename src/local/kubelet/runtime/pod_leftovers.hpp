// What an earlier process of the node left of a pod: files in its directory, and its status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"
#include "local/kubelet/runtime/pod_files.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

struct PodLeftovers {
  PodNote note;
  ShimState shim;  // as the shim last wrote it
};

// None: no container of the pod was ever started.
std::optional<PodLeftovers> find_leftovers(const PodFiles& files);

// The containers of a pod that has ended, as its status shows them. Pure.
void restore_ended(const json::value& pod, PodFacts& facts);

// Copies from the status which running containers have started and are ready. Only the probes of
// the earlier process knew that. Returns the names of these containers. Pure.
std::vector<std::string> restore_readiness(const json::value& pod, PodFacts& facts);

}  // namespace plim::local::kubelet
