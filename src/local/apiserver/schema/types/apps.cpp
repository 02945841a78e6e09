// The group apps.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kRollingUpdateDeploymentFields[] = {
    {.name = "maxUnavailable",
     .scalar = Scalar::int_or_string,
     .keep_zero = true,
     .fallback = R"("25%")",
     .number = 1},
    {.name = "maxSurge",
     .scalar = Scalar::int_or_string,
     .keep_zero = true,
     .fallback = R"("25%")",
     .number = 2},
};
constexpr Type kRollingUpdateDeployment{.name = "RollingUpdateDeployment",
                                        .fields = kRollingUpdateDeploymentFields};

constexpr Field kDeploymentStrategyFields[] = {
    {.name = "type", .fallback = R"("RollingUpdate")", .number = 1},
    {.name = "rollingUpdate",
     .scalar = Scalar::object,
     .type = &kRollingUpdateDeployment,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kDeploymentStrategy{.name = "DeploymentStrategy",
                                   .fields = kDeploymentStrategyFields};

constexpr Field kDeploymentSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .keep_zero = true, .fallback = "1", .number = 1},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 3},
    {.name = "strategy",
     .scalar = Scalar::object,
     .type = &kDeploymentStrategy,
     .retain_keys = true,
     .required_zero = true,
     .number = 4},
    {.name = "minReadySeconds", .scalar = Scalar::int32, .number = 5},
    {.name = "revisionHistoryLimit",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "10",
     .number = 6},
    {.name = "paused", .scalar = Scalar::boolean, .number = 7},
    {.name = "progressDeadlineSeconds",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "600",
     .number = 9},
};
constexpr Type kDeploymentSpec{.name = "DeploymentSpec", .fields = kDeploymentSpecFields};

constexpr Field kDeploymentConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastUpdateTime", .scalar = Scalar::time, .number = 6},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 7},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kDeploymentCondition{.name = "DeploymentCondition",
                                    .fields = kDeploymentConditionFields};

constexpr Field kDeploymentStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 1},
    {.name = "replicas", .scalar = Scalar::int32, .number = 2},
    {.name = "updatedReplicas", .scalar = Scalar::int32, .number = 3},
    {.name = "readyReplicas", .scalar = Scalar::int32, .number = 7},
    {.name = "availableReplicas", .scalar = Scalar::int32, .number = 4},
    {.name = "unavailableReplicas", .scalar = Scalar::int32, .number = 5},
    {.name = "terminatingReplicas", .scalar = Scalar::int32, .keep_zero = true, .number = 9},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeploymentCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 6},
    {.name = "collisionCount", .scalar = Scalar::int32, .keep_zero = true, .number = 8},
};
constexpr Type kDeploymentStatus{.name = "DeploymentStatus", .fields = kDeploymentStatusFields};

constexpr Field kDeploymentFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kDeploymentSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kDeploymentStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kDeployment{.name = "Deployment", .fields = kDeploymentFields};

constexpr Field kReplicaSetSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .keep_zero = true, .fallback = "1", .number = 1},
    {.name = "minReadySeconds", .scalar = Scalar::int32, .number = 4},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 3},
};
constexpr Type kReplicaSetSpec{.name = "ReplicaSetSpec", .fields = kReplicaSetSpecFields};

constexpr Field kReplicaSetConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kReplicaSetCondition{.name = "ReplicaSetCondition",
                                    .fields = kReplicaSetConditionFields};

constexpr Field kReplicaSetStatusFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "fullyLabeledReplicas", .scalar = Scalar::int32, .number = 2},
    {.name = "readyReplicas", .scalar = Scalar::int32, .number = 4},
    {.name = "availableReplicas", .scalar = Scalar::int32, .number = 5},
    {.name = "terminatingReplicas", .scalar = Scalar::int32, .keep_zero = true, .number = 7},
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 3},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kReplicaSetCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 6},
};
constexpr Type kReplicaSetStatus{.name = "ReplicaSetStatus", .fields = kReplicaSetStatusFields};

constexpr Field kReplicaSetFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kReplicaSetSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kReplicaSetStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kReplicaSet{.name = "ReplicaSet", .fields = kReplicaSetFields};

constexpr Field kRollingUpdateDaemonSetFields[] = {
    {.name = "maxUnavailable",
     .scalar = Scalar::int_or_string,
     .keep_zero = true,
     .fallback = "1",
     .number = 1},
    {.name = "maxSurge",
     .scalar = Scalar::int_or_string,
     .keep_zero = true,
     .fallback = "0",
     .number = 2},
};
constexpr Type kRollingUpdateDaemonSet{.name = "RollingUpdateDaemonSet",
                                       .fields = kRollingUpdateDaemonSetFields};

constexpr Field kDaemonSetUpdateStrategyFields[] = {
    {.name = "type", .fallback = R"("RollingUpdate")", .number = 1},
    {.name = "rollingUpdate",
     .scalar = Scalar::object,
     .type = &kRollingUpdateDaemonSet,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kDaemonSetUpdateStrategy{.name = "DaemonSetUpdateStrategy",
                                        .fields = kDaemonSetUpdateStrategyFields};

constexpr Field kDaemonSetSpecFields[] = {
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 2},
    {.name = "updateStrategy",
     .scalar = Scalar::object,
     .type = &kDaemonSetUpdateStrategy,
     .required_zero = true,
     .number = 3},
    {.name = "minReadySeconds", .scalar = Scalar::int32, .number = 4},
    {.name = "revisionHistoryLimit",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "10",
     .number = 6},
};
constexpr Type kDaemonSetSpec{.name = "DaemonSetSpec", .fields = kDaemonSetSpecFields};

constexpr Field kDaemonSetConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kDaemonSetCondition{.name = "DaemonSetCondition",
                                   .fields = kDaemonSetConditionFields};

constexpr Field kDaemonSetStatusFields[] = {
    {.name = "currentNumberScheduled", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "numberMisscheduled", .scalar = Scalar::int32, .required_zero = true, .number = 2},
    {.name = "desiredNumberScheduled", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "numberReady", .scalar = Scalar::int32, .required_zero = true, .number = 4},
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 5},
    {.name = "updatedNumberScheduled", .scalar = Scalar::int32, .number = 6},
    {.name = "numberAvailable", .scalar = Scalar::int32, .number = 7},
    {.name = "numberUnavailable", .scalar = Scalar::int32, .number = 8},
    {.name = "collisionCount", .scalar = Scalar::int32, .keep_zero = true, .number = 9},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDaemonSetCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 10},
};
constexpr Type kDaemonSetStatus{.name = "DaemonSetStatus", .fields = kDaemonSetStatusFields};

constexpr Field kDaemonSetFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kDaemonSetSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kDaemonSetStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kDaemonSet{.name = "DaemonSet", .fields = kDaemonSetFields};

constexpr Field kRollingUpdateStatefulSetStrategyFields[] = {
    {.name = "partition", .scalar = Scalar::int32, .keep_zero = true, .fallback = "0", .number = 1},
    {.name = "maxUnavailable", .scalar = Scalar::int_or_string, .keep_zero = true, .number = 2},
};
constexpr Type kRollingUpdateStatefulSetStrategy{.name = "RollingUpdateStatefulSetStrategy",
                                                 .fields = kRollingUpdateStatefulSetStrategyFields};

constexpr Field kStatefulSetUpdateStrategyFields[] = {
    {.name = "type", .number = 1},
    {.name = "rollingUpdate",
     .scalar = Scalar::object,
     .type = &kRollingUpdateStatefulSetStrategy,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kStatefulSetUpdateStrategy{.name = "StatefulSetUpdateStrategy",
                                          .fields = kStatefulSetUpdateStrategyFields};

constexpr Field kStatefulSetPersistentVolumeClaimRetentionPolicyFields[] = {
    {.name = "whenDeleted", .fallback = R"("Retain")", .number = 1},
    {.name = "whenScaled", .fallback = R"("Retain")", .number = 2},
};
constexpr Type kStatefulSetPersistentVolumeClaimRetentionPolicy{
    .name = "StatefulSetPersistentVolumeClaimRetentionPolicy",
    .fields = kStatefulSetPersistentVolumeClaimRetentionPolicyFields};

constexpr Field kStatefulSetOrdinalsFields[] = {
    {.name = "start", .scalar = Scalar::int32, .required_zero = true, .number = 1},
};
constexpr Type kStatefulSetOrdinals{.name = "StatefulSetOrdinals",
                                    .fields = kStatefulSetOrdinalsFields};

constexpr Field kStatefulSetSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .keep_zero = true, .fallback = "1", .number = 1},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 3},
    {.name = "volumeClaimTemplates",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPersistentVolumeClaim,
     .number = 4},
    {.name = "serviceName", .required_zero = true, .number = 5},
    {.name = "podManagementPolicy", .fallback = R"("OrderedReady")", .number = 6},
    {.name = "updateStrategy",
     .scalar = Scalar::object,
     .type = &kStatefulSetUpdateStrategy,
     .required_zero = true,
     .number = 7},
    {.name = "revisionHistoryLimit",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "10",
     .number = 8},
    {.name = "minReadySeconds", .scalar = Scalar::int32, .number = 9},
    {.name = "persistentVolumeClaimRetentionPolicy",
     .scalar = Scalar::object,
     .type = &kStatefulSetPersistentVolumeClaimRetentionPolicy,
     .keep_zero = true,
     .fallback = "{}",
     .number = 10},
    {.name = "ordinals",
     .scalar = Scalar::object,
     .type = &kStatefulSetOrdinals,
     .keep_zero = true,
     .number = 11},
};
constexpr Type kStatefulSetSpec{.name = "StatefulSetSpec", .fields = kStatefulSetSpecFields};

constexpr Field kStatefulSetConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kStatefulSetCondition{.name = "StatefulSetCondition",
                                     .fields = kStatefulSetConditionFields};

constexpr Field kStatefulSetStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 1},
    {.name = "replicas", .scalar = Scalar::int32, .required_zero = true, .number = 2},
    {.name = "readyReplicas", .scalar = Scalar::int32, .number = 3},
    {.name = "currentReplicas", .scalar = Scalar::int32, .number = 4},
    {.name = "updatedReplicas", .scalar = Scalar::int32, .number = 5},
    {.name = "currentRevision", .number = 6},
    {.name = "updateRevision", .number = 7},
    {.name = "collisionCount", .scalar = Scalar::int32, .keep_zero = true, .number = 9},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kStatefulSetCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 10},
    {.name = "availableReplicas", .scalar = Scalar::int32, .required_zero = true, .number = 11},
};
constexpr Type kStatefulSetStatus{.name = "StatefulSetStatus", .fields = kStatefulSetStatusFields};

constexpr Field kStatefulSetFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kStatefulSetSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kStatefulSetStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kStatefulSet{.name = "StatefulSet", .fields = kStatefulSetFields};

constexpr Field kControllerRevisionFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "data", .scalar = Scalar::any, .number = 2},
    {.name = "revision", .scalar = Scalar::int64, .required_zero = true, .number = 3},
};
constexpr Type kControllerRevision{.name = "ControllerRevision",
                                   .fields = kControllerRevisionFields};

}  // namespace plim::local::apiserver
