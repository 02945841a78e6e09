// What a container with a mount namespace of its own sees of the file system.
#pragma once

#include "base/result.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

// Called in the new process, inside its new namespaces. Nothing of it is seen outside.
Result<void> set_up_mounts(const StartSpec& spec);

}  // namespace plim::local::kubelet
