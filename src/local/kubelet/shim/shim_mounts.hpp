// Builds the file system that a container with its own mount namespace sees.
#pragma once

#include "base/result.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

// Called in the new process, inside its new namespaces. These mounts are not visible outside.
Result<void> set_up_mounts(const StartSpec& spec);

}  // namespace plim::local::kubelet
