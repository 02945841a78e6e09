#include "local/api/mutators/mutators.hpp"

#include <array>
#include <string_view>

namespace plim::local {
namespace {

struct MutatorRow {
  std::string_view group;
  std::string_view kind;
  bool on_update;
  Mutator run;
};

constexpr std::array kMutators{
    MutatorRow{"", "Pod", false, set_service_account},
    MutatorRow{"", "Pod", false, set_default_tolerations},
    MutatorRow{"", "Pod", false, set_priority},
    MutatorRow{"", "Service", true, set_cluster_ip},
    MutatorRow{"batch", "Job", false, set_job_selector},
    MutatorRow{"", "Namespace", true, set_namespace_state},
    MutatorRow{"", "PersistentVolume", false, set_volume_phase},
    MutatorRow{"", "PersistentVolumeClaim", false, set_volume_phase},
    MutatorRow{"", "Node", false, taint_new_node},
};

}  // namespace

ApiResult<void> run_built_in_mutators(const Core& core, Admission& admission) {
  const bool is_update = admission.operation == Admission::Operation::update;
  if (is_update && !admission.subresource.empty()) return {};
  for (const MutatorRow& row : kMutators) {
    if (row.kind != admission.kind->kind || row.group != admission.kind->group) continue;
    if (is_update && !row.on_update) continue;
    PLIM_CHECK(row.run(core, admission));
  }
  return {};
}

}  // namespace plim::local
