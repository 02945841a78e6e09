#include "local/apiserver/api/mutators/mutators.hpp"

#include <array>
#include <string_view>

namespace plim::local::apiserver {
namespace {

struct MutatorRow {
  std::string_view group;
  std::string_view kind;
  MutatorStage stage;
  bool on_update;
  Mutator run;
};

constexpr MutatorStage kAdmission = MutatorStage::admission;
constexpr MutatorStage kStrategy = MutatorStage::strategy;

constexpr std::array kMutators{
    MutatorRow{"", "Pod", kAdmission, false, set_service_account},
    MutatorRow{"", "Pod", kAdmission, false, set_default_tolerations},
    MutatorRow{"", "Pod", kStrategy, true, set_default_tolerations},
    MutatorRow{"", "Pod", kAdmission, false, set_priority},
    MutatorRow{"", "Pod", kStrategy, false, hold_at_gates},
    MutatorRow{"", "Pod", kStrategy, false, merge_label_keys},
    MutatorRow{"", "ServiceAccount", kStrategy, true, keep_names_of_secrets},
    MutatorRow{"", "Service", kStrategy, true, set_cluster_ip},
    MutatorRow{"batch", "Job", kStrategy, false, set_job_selector},
    MutatorRow{"", "Namespace", kStrategy, true, set_namespace_state},
    MutatorRow{"", "PersistentVolume", kStrategy, false, set_volume_phase},
    MutatorRow{"", "PersistentVolumeClaim", kStrategy, false, set_volume_phase},
    MutatorRow{"", "Node", kAdmission, false, taint_new_node},
};

}  // namespace

ApiResult<void> run_built_in_mutators(const Core& core, MutatorStage stage, Admission& admission) {
  const bool is_update = admission.operation == Admission::Operation::update;
  if (is_update && !admission.subresource.empty()) return {};
  for (const MutatorRow& row : kMutators) {
    if (row.stage != stage) continue;
    if (row.kind != admission.kind->kind || row.group != admission.kind->group) continue;
    if (is_update && !row.on_update) continue;
    PLIM_CHECK(row.run(core, admission));
  }
  return {};
}

}  // namespace plim::local::apiserver
