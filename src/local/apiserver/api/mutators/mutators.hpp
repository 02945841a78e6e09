// What the server adds to objects besides defaults, because it depends on other objects or on the
// request. One small file each; the table is in mutators.cpp.
#pragma once

#include <cstdint>

#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

using Mutator = ApiResult<void> (*)(const Core& core, Admission& admission);

// Mutators of stage `admission` run before webhooks see the object, and again after them for what
// webhooks have added. Those of stage `strategy` run when the object has its UID and name.
enum class MutatorStage : std::uint8_t { admission, strategy };

// Runs all mutators of a stage, in order.
ApiResult<void> run_built_in_mutators(const Core& core, MutatorStage stage, Admission& admission);

ApiResult<void> set_service_account(const Core& core, Admission& admission);
ApiResult<void> set_default_tolerations(const Core& core, Admission& admission);
ApiResult<void> hold_at_gates(const Core& core, Admission& admission);
ApiResult<void> merge_label_keys(const Core& core, Admission& admission);
ApiResult<void> keep_names_of_secrets(const Core& core, Admission& admission);
ApiResult<void> set_priority(const Core& core, Admission& admission);
ApiResult<void> set_cluster_ip(const Core& core, Admission& admission);
ApiResult<void> set_job_selector(const Core& core, Admission& admission);
ApiResult<void> set_namespace_state(const Core& core, Admission& admission);
ApiResult<void> set_volume_phase(const Core& core, Admission& admission);
ApiResult<void> taint_new_node(const Core& core, Admission& admission);

}  // namespace plim::local::apiserver
