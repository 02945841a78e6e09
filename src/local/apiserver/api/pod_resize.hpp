// Checks a resize of a pod against its node.
#pragma once

#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

// 403 if the pod asks for more CPU or memory than its node can allocate, or if the node is gone.
// Whether that much is free at the moment is the node's decision.
ApiResult<void> check_resize_fits(const Core& core, const Admission& admission);

}  // namespace plim::local::apiserver
