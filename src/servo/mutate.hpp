// What the servo changes of pods at their admission: jobs are marked, and get the monitor if there
// is one. A pure function of the review and the settings; it never refuses a pod.
#pragma once

#include <string_view>

#include "kube/admission.hpp"
#include "servo/settings.hpp"

namespace plim::servo {

inline constexpr std::string_view kMonitorName = "zzzzmonitor";  // sorts behind all others
inline constexpr std::string_view kMarkAnnotation = "plimsoll.io/servo";
inline constexpr std::string_view kMark = "v1";

// A sidecar ends with the job. One that was appended to the containers, all that Kubernetes before
// 1.29 can do, keeps the pod from completing until somebody stops it.
enum class MonitorForm { sidecar, appended };

kube::AdmissionAnswer mutate_job(const kube::AdmissionReview& review, const JobRules& rules,
                                 const Monitor& monitor, MonitorForm form = MonitorForm::sidecar);

}  // namespace plim::servo
