// Checks a resize of a pod against its node.
#pragma once

#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

// 403 if the node of the pod is gone, does not declare a feature that the change needs, or can
// allocate less CPU or memory than the pod requests. Whether that much is free at the moment is the
// node's decision.
ApiResult<void> check_resize(const Core& core, const Admission& admission);

}  // namespace plim::local::apiserver
