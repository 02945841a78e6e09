// The group batch.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kPodFailurePolicyOnExitCodesRequirementFields[] = {
    {.name = "containerName", .keep_zero = true, .number = 1},
    {.name = "operator", .required_zero = true, .number = 2},
    {.name = "values",
     .scalar = Scalar::int32,
     .shape = Shape::list,
     .list = ListKind::set,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kPodFailurePolicyOnExitCodesRequirement{
    .name = "PodFailurePolicyOnExitCodesRequirement",
    .fields = kPodFailurePolicyOnExitCodesRequirementFields};

constexpr Field kPodFailurePolicyOnPodConditionsPatternFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .fallback = R"("True")", .number = 2},
};
constexpr Type kPodFailurePolicyOnPodConditionsPattern{
    .name = "PodFailurePolicyOnPodConditionsPattern",
    .fields = kPodFailurePolicyOnPodConditionsPatternFields};

constexpr Field kPodFailurePolicyRuleFields[] = {
    {.name = "action", .required_zero = true, .number = 1},
    {.name = "onExitCodes",
     .scalar = Scalar::object,
     .type = &kPodFailurePolicyOnExitCodesRequirement,
     .keep_zero = true,
     .number = 2},
    {.name = "onPodConditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodFailurePolicyOnPodConditionsPattern,
     .number = 3},
};
constexpr Type kPodFailurePolicyRule{.name = "PodFailurePolicyRule",
                                     .fields = kPodFailurePolicyRuleFields};

constexpr Field kPodFailurePolicyFields[] = {
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodFailurePolicyRule,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kPodFailurePolicy{.name = "PodFailurePolicy", .fields = kPodFailurePolicyFields};

constexpr Field kSuccessPolicyRuleFields[] = {
    {.name = "succeededIndexes", .keep_zero = true, .number = 1},
    {.name = "succeededCount", .scalar = Scalar::int32, .keep_zero = true, .number = 2},
};
constexpr Type kSuccessPolicyRule{.name = "SuccessPolicyRule", .fields = kSuccessPolicyRuleFields};

constexpr Field kSuccessPolicyFields[] = {
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kSuccessPolicyRule,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kSuccessPolicy{.name = "SuccessPolicy", .fields = kSuccessPolicyFields};

constexpr Field kJobSpecFields[] = {
    {.name = "parallelism", .scalar = Scalar::int32, .keep_zero = true, .number = 1},
    {.name = "completions", .scalar = Scalar::int32, .keep_zero = true, .number = 2},
    {.name = "activeDeadlineSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 3},
    {.name = "podFailurePolicy",
     .scalar = Scalar::object,
     .type = &kPodFailurePolicy,
     .keep_zero = true,
     .number = 11},
    {.name = "successPolicy",
     .scalar = Scalar::object,
     .type = &kSuccessPolicy,
     .keep_zero = true,
     .number = 16},
    {.name = "backoffLimit", .scalar = Scalar::int32, .keep_zero = true, .number = 7},
    {.name = "backoffLimitPerIndex", .scalar = Scalar::int32, .keep_zero = true, .number = 12},
    {.name = "maxFailedIndexes", .scalar = Scalar::int32, .keep_zero = true, .number = 13},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "manualSelector", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 6},
    {.name = "ttlSecondsAfterFinished", .scalar = Scalar::int32, .keep_zero = true, .number = 8},
    {.name = "completionMode", .keep_zero = true, .number = 9},
    {.name = "suspend", .scalar = Scalar::boolean, .keep_zero = true, .number = 10},
    {.name = "podReplacementPolicy", .keep_zero = true, .number = 14},
    {.name = "managedBy", .keep_zero = true, .number = 15},
};
constexpr Type kJobSpec{.name = "JobSpec", .fields = kJobSpecFields};

constexpr Field kJobConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastProbeTime", .scalar = Scalar::time, .number = 3},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .number = 5},
    {.name = "message", .number = 6},
};
constexpr Type kJobCondition{.name = "JobCondition", .fields = kJobConditionFields};

constexpr Field kUncountedTerminatedPodsFields[] = {
    {.name = "succeeded", .shape = Shape::list, .list = ListKind::set, .number = 1},
    {.name = "failed", .shape = Shape::list, .list = ListKind::set, .number = 2},
};
constexpr Type kUncountedTerminatedPods{.name = "UncountedTerminatedPods",
                                        .fields = kUncountedTerminatedPodsFields};

constexpr Field kJobStatusFields[] = {
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kJobCondition,
     .merge_key = "type",
     .merge = true,
     .number = 1},
    {.name = "startTime", .scalar = Scalar::time, .keep_zero = true, .number = 2},
    {.name = "completionTime", .scalar = Scalar::time, .keep_zero = true, .number = 3},
    {.name = "active", .scalar = Scalar::int32, .number = 4},
    {.name = "succeeded", .scalar = Scalar::int32, .number = 5},
    {.name = "failed", .scalar = Scalar::int32, .number = 6},
    {.name = "terminating", .scalar = Scalar::int32, .keep_zero = true, .number = 11},
    {.name = "completedIndexes", .number = 7},
    {.name = "failedIndexes", .keep_zero = true, .number = 10},
    {.name = "uncountedTerminatedPods",
     .scalar = Scalar::object,
     .type = &kUncountedTerminatedPods,
     .keep_zero = true,
     .number = 8},
    {.name = "ready", .scalar = Scalar::int32, .keep_zero = true, .number = 9},
};
constexpr Type kJobStatus{.name = "JobStatus", .fields = kJobStatusFields};

constexpr Field kJobFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kJobSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kJobStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kJob{.name = "Job", .fields = kJobFields};

constexpr Field kJobTemplateSpecFields[] = {
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kJobSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kJobTemplateSpec{.name = "JobTemplateSpec", .fields = kJobTemplateSpecFields};

constexpr Field kCronJobSpecFields[] = {
    {.name = "schedule", .required_zero = true, .number = 1},
    {.name = "timeZone", .keep_zero = true, .number = 8},
    {.name = "startingDeadlineSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 2},
    {.name = "concurrencyPolicy", .fallback = R"("Allow")", .number = 3},
    {.name = "suspend",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 4},
    {.name = "jobTemplate",
     .scalar = Scalar::object,
     .type = &kJobTemplateSpec,
     .required_zero = true,
     .number = 5},
    {.name = "successfulJobsHistoryLimit",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "3",
     .number = 6},
    {.name = "failedJobsHistoryLimit",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "1",
     .number = 7},
};
constexpr Type kCronJobSpec{.name = "CronJobSpec", .fields = kCronJobSpecFields};

constexpr Field kCronJobStatusFields[] = {
    {.name = "active",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kObjectReference,
     .number = 1},
    {.name = "lastScheduleTime", .scalar = Scalar::time, .keep_zero = true, .number = 4},
    {.name = "lastSuccessfulTime", .scalar = Scalar::time, .keep_zero = true, .number = 5},
};
constexpr Type kCronJobStatus{.name = "CronJobStatus", .fields = kCronJobStatusFields};

constexpr Field kCronJobFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kCronJobSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kCronJobStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kCronJob{.name = "CronJob", .fields = kCronJobFields};

}  // namespace plim::local::apiserver
