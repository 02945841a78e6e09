// What the server itself adds to objects beyond their defaults, because it follows from other
// objects or from the request. One small file each; the table is in mutators.cpp.
#pragma once

#include <cstdint>

#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

using Mutator = ApiResult<void> (*)(const Core& core, Admission& admission);

// Those of admission run before webhooks see the object, and again after them, for what webhooks
// have added; those of the kind's strategy when it has its uid and name.
enum class MutatorStage : std::uint8_t { admission, strategy };

// All of a stage, in order.
ApiResult<void> run_built_in_mutators(const Core& core, MutatorStage stage, Admission& admission);

ApiResult<void> set_service_account(const Core& core, Admission& admission);
ApiResult<void> set_default_tolerations(const Core& core, Admission& admission);
ApiResult<void> hold_at_gates(const Core& core, Admission& admission);
ApiResult<void> keep_names_of_secrets(const Core& core, Admission& admission);
ApiResult<void> set_priority(const Core& core, Admission& admission);
ApiResult<void> set_cluster_ip(const Core& core, Admission& admission);
ApiResult<void> set_job_selector(const Core& core, Admission& admission);
ApiResult<void> set_namespace_state(const Core& core, Admission& admission);
ApiResult<void> set_volume_phase(const Core& core, Admission& admission);
ApiResult<void> taint_new_node(const Core& core, Admission& admission);

}  // namespace plim::local::apiserver
