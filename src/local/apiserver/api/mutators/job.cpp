// A Job selects its pods by its own UID, unless it has a selector.
#include <array>
#include <string>
#include <utility>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"

namespace plim::local::apiserver {

ApiResult<void> set_job_selector(const Core& /*core*/, Admission& admission) {
  json::value& job = admission.object;
  if (kube::bool_at(job, "Job.spec.manualSelector")) return {};
  const std::string uid(kube::uid_of(job));
  const std::string name(kube::name_of(job));
  const std::array<std::pair<std::string_view, const std::string&>, 4> labels{{
      {"batch.kubernetes.io/controller-uid", uid},
      {"batch.kubernetes.io/job-name", name},
      {"controller-uid", uid},
      {"job-name", name},
  }};
  for (const auto& [key, value] : labels) {
    kube::make_object(job, "Job.metadata.labels")[key] = value;
    kube::make_object(job, "Job.spec.template.metadata.labels")[key] = value;
  }
  kube::make_object(job, "Job.spec.selector.matchLabels")[labels[0].first] = uid;
  return {};
}

}  // namespace plim::local::apiserver
