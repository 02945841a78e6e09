// The servo's mutating webhook: marks jobs, and adds the monitor container if one is configured. A
// pure function of the review and the settings; it never rejects a pod.
#pragma once

#include <string_view>

#include "kube/admission.hpp"
#include "servo/settings.hpp"

namespace plim::servo {

inline constexpr std::string_view kMonitorName = "zzzzmonitor";  // sorts after all others
inline constexpr std::string_view kMarkAnnotation = "plimsoll.io/servo";
inline constexpr std::string_view kMark = "v1";

// A sidecar ends with the job. Kubernetes before 1.29 has no sidecars: there the monitor is
// appended to the containers, and the pod does not complete until the monitor is stopped.
enum class MonitorForm { sidecar, appended };

kube::AdmissionAnswer mutate_job(const kube::AdmissionReview& review, const JobRules& rules,
                                 const Monitor& monitor, MonitorForm form = MonitorForm::sidecar);

}  // namespace plim::servo
