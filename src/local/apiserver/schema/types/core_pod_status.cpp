// What nodes report about pods.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kPodConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 7},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastProbeTime", .scalar = Scalar::time, .number = 3},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .number = 5},
    {.name = "message", .number = 6},
};
constexpr Type kPodCondition{.name = "PodCondition", .fields = kPodConditionFields};

constexpr Field kHostIPFields[] = {
    {.name = "ip", .required_zero = true, .number = 1},
};
constexpr Type kHostIP{.name = "HostIP", .fields = kHostIPFields};

constexpr Field kPodIPFields[] = {
    {.name = "ip", .required_zero = true, .number = 1},
};
constexpr Type kPodIP{.name = "PodIP", .fields = kPodIPFields};

constexpr Field kContainerStateWaitingFields[] = {
    {.name = "reason", .number = 1},
    {.name = "message", .number = 2},
};
constexpr Type kContainerStateWaiting{.name = "ContainerStateWaiting",
                                      .fields = kContainerStateWaitingFields};

constexpr Field kContainerStateRunningFields[] = {
    {.name = "startedAt", .scalar = Scalar::time, .number = 1},
};
constexpr Type kContainerStateRunning{.name = "ContainerStateRunning",
                                      .fields = kContainerStateRunningFields};

constexpr Field kContainerStateTerminatedFields[] = {
    {.name = "exitCode", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "signal", .scalar = Scalar::int32, .number = 2},
    {.name = "reason", .number = 3},
    {.name = "message", .number = 4},
    {.name = "startedAt", .scalar = Scalar::time, .number = 5},
    {.name = "finishedAt", .scalar = Scalar::time, .number = 6},
    {.name = "containerID", .number = 7},
};
constexpr Type kContainerStateTerminated{.name = "ContainerStateTerminated",
                                         .fields = kContainerStateTerminatedFields};

constexpr Field kContainerStateFields[] = {
    {.name = "waiting",
     .scalar = Scalar::object,
     .type = &kContainerStateWaiting,
     .keep_zero = true,
     .number = 1},
    {.name = "running",
     .scalar = Scalar::object,
     .type = &kContainerStateRunning,
     .keep_zero = true,
     .number = 2},
    {.name = "terminated",
     .scalar = Scalar::object,
     .type = &kContainerStateTerminated,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kContainerState{.name = "ContainerState", .fields = kContainerStateFields};

constexpr Field kVolumeMountStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "mountPath", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "recursiveReadOnly", .keep_zero = true, .number = 4},
};
constexpr Type kVolumeMountStatus{.name = "VolumeMountStatus", .fields = kVolumeMountStatusFields};

constexpr Field kLinuxContainerUserFields[] = {
    {.name = "uid", .scalar = Scalar::int64, .required_zero = true, .number = 1},
    {.name = "gid", .scalar = Scalar::int64, .required_zero = true, .number = 2},
    {.name = "supplementalGroups", .scalar = Scalar::int64, .shape = Shape::list, .number = 3},
};
constexpr Type kLinuxContainerUser{.name = "LinuxContainerUser",
                                   .fields = kLinuxContainerUserFields};

constexpr Field kContainerUserFields[] = {
    {.name = "linux",
     .scalar = Scalar::object,
     .type = &kLinuxContainerUser,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kContainerUser{.name = "ContainerUser", .fields = kContainerUserFields};

constexpr Field kResourceHealthFields[] = {
    {.name = "resourceID", .required_zero = true, .number = 1},
    {.name = "health", .number = 2},
};
constexpr Type kResourceHealth{.name = "ResourceHealth", .fields = kResourceHealthFields};

constexpr Field kResourceStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "resources",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kResourceHealth,
     .list = ListKind::map,
     .list_keys = "resourceID",
     .number = 2},
};
constexpr Type kResourceStatus{.name = "ResourceStatus", .fields = kResourceStatusFields};

constexpr Field kContainerStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "state",
     .scalar = Scalar::object,
     .type = &kContainerState,
     .required_zero = true,
     .number = 2},
    {.name = "lastState",
     .scalar = Scalar::object,
     .type = &kContainerState,
     .required_zero = true,
     .number = 3},
    {.name = "ready", .scalar = Scalar::boolean, .required_zero = true, .number = 4},
    {.name = "restartCount", .scalar = Scalar::int32, .required_zero = true, .number = 5},
    {.name = "image", .required_zero = true, .number = 6},
    {.name = "imageID", .required_zero = true, .number = 7},
    {.name = "containerID", .number = 8},
    {.name = "started", .scalar = Scalar::boolean, .keep_zero = true, .number = 9},
    {.name = "allocatedResources", .scalar = Scalar::quantity, .shape = Shape::map, .number = 10},
    {.name = "resources",
     .scalar = Scalar::object,
     .type = &kResourceRequirements,
     .keep_zero = true,
     .number = 11},
    {.name = "volumeMounts",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolumeMountStatus,
     .list = ListKind::map,
     .list_keys = "mountPath",
     .merge_key = "mountPath",
     .merge = true,
     .number = 12},
    {.name = "user",
     .scalar = Scalar::object,
     .type = &kContainerUser,
     .keep_zero = true,
     .number = 13},
    {.name = "allocatedResourcesStatus",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kResourceStatus,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 14},
    {.name = "stopSignal", .keep_zero = true, .number = 15},
};
constexpr Type kContainerStatus{.name = "ContainerStatus", .fields = kContainerStatusFields};

constexpr Field kPodResourceClaimStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "resourceClaimName", .keep_zero = true, .number = 2},
};
constexpr Type kPodResourceClaimStatus{.name = "PodResourceClaimStatus",
                                       .fields = kPodResourceClaimStatusFields};

constexpr Field kContainerExtendedResourceRequestFields[] = {
    {.name = "containerName", .required_zero = true, .number = 1},
    {.name = "resourceName", .required_zero = true, .number = 2},
    {.name = "requestName", .required_zero = true, .number = 3},
};
constexpr Type kContainerExtendedResourceRequest{.name = "ContainerExtendedResourceRequest",
                                                 .fields = kContainerExtendedResourceRequestFields};

constexpr Field kPodExtendedResourceClaimStatusFields[] = {
    {.name = "requestMappings",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerExtendedResourceRequest,
     .keep_zero = true,
     .number = 1},
    {.name = "resourceClaimName", .required_zero = true, .number = 2},
};
constexpr Type kPodExtendedResourceClaimStatus{.name = "PodExtendedResourceClaimStatus",
                                               .fields = kPodExtendedResourceClaimStatusFields};

constexpr Field kPodStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 17},
    {.name = "phase", .number = 1},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 2},
    {.name = "message", .number = 3},
    {.name = "reason", .number = 4},
    {.name = "nominatedNodeName", .number = 11},
    {.name = "hostIP", .number = 5},
    {.name = "hostIPs",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHostIP,
     .merge_key = "ip",
     .merge = true,
     .number = 16},
    {.name = "podIP", .number = 6},
    {.name = "podIPs",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodIP,
     .list = ListKind::map,
     .list_keys = "ip",
     .merge_key = "ip",
     .merge = true,
     .number = 12},
    {.name = "startTime", .scalar = Scalar::time, .keep_zero = true, .number = 7},
    {.name = "initContainerStatuses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerStatus,
     .number = 10},
    {.name = "containerStatuses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerStatus,
     .number = 8},
    {.name = "qosClass", .number = 9},
    {.name = "ephemeralContainerStatuses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerStatus,
     .number = 13},
    {.name = "resize", .number = 14},
    {.name = "resourceClaimStatuses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodResourceClaimStatus,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .retain_keys = true,
     .number = 15},
    {.name = "extendedResourceClaimStatus",
     .scalar = Scalar::object,
     .type = &kPodExtendedResourceClaimStatus,
     .keep_zero = true,
     .number = 18},
};
constexpr Type kPodStatus{.name = "PodStatus", .fields = kPodStatusFields};

}  // namespace plim::local::apiserver
