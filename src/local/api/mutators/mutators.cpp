#include "local/api/mutators/mutators.hpp"

#include <array>
#include <string_view>

namespace plim::local {
namespace {

struct Row {
  std::string_view group;
  std::string_view kind;
  bool on_update;
  Mutator run;
};

constexpr std::array kMutators{
    Row{"", "Pod", false, set_service_account},
    Row{"", "Pod", false, set_default_tolerations},
    Row{"", "Pod", false, set_priority},
    Row{"", "Service", true, set_cluster_ip},
    Row{"batch", "Job", false, set_job_selector},
    Row{"", "Namespace", true, set_namespace_state},
    Row{"", "PersistentVolume", false, set_volume_phase},
    Row{"", "PersistentVolumeClaim", false, set_volume_phase},
    Row{"", "Node", false, taint_new_node},
};

}  // namespace

ApiResult<void> run_built_in_mutators(const Core& core, Admission& admission) {
  const bool is_update = admission.operation == Admission::Operation::update;
  if (is_update && !admission.subresource.empty()) return {};
  for (const Row& row : kMutators) {
    if (row.kind != admission.kind->kind || row.group != admission.kind->group) continue;
    if (is_update && !row.on_update) continue;
    PLIM_CHECK(row.run(core, admission));
  }
  return {};
}

}  // namespace plim::local
