// Node.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kTaintFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "value", .number = 2},
    {.name = "effect", .required_zero = true, .number = 3},
    {.name = "timeAdded", .scalar = Scalar::time, .keep_zero = true, .number = 4},
};
constexpr Type kTaint{.name = "Taint", .fields = kTaintFields};

constexpr Field kConfigMapNodeConfigSourceFields[] = {
    {.name = "namespace", .required_zero = true, .number = 1},
    {.name = "name", .required_zero = true, .number = 2},
    {.name = "uid", .number = 3},
    {.name = "resourceVersion", .number = 4},
    {.name = "kubeletConfigKey", .required_zero = true, .number = 5},
};
constexpr Type kConfigMapNodeConfigSource{.name = "ConfigMapNodeConfigSource",
                                          .fields = kConfigMapNodeConfigSourceFields};

constexpr Field kNodeConfigSourceFields[] = {
    {.name = "configMap",
     .scalar = Scalar::object,
     .type = &kConfigMapNodeConfigSource,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kNodeConfigSource{.name = "NodeConfigSource", .fields = kNodeConfigSourceFields};

constexpr Field kNodeSpecFields[] = {
    {.name = "podCIDR", .number = 1},
    {.name = "podCIDRs", .shape = Shape::list, .list = ListKind::set, .merge = true, .number = 7},
    {.name = "providerID", .number = 3},
    {.name = "unschedulable", .scalar = Scalar::boolean, .number = 4},
    {.name = "taints",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kTaint,
     .number = 5},
    {.name = "configSource",
     .scalar = Scalar::object,
     .type = &kNodeConfigSource,
     .keep_zero = true,
     .number = 6},
    {.name = "externalID", .number = 2},
};
constexpr Type kNodeSpec{.name = "NodeSpec", .fields = kNodeSpecFields};

constexpr Field kNodeConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastHeartbeatTime", .scalar = Scalar::time, .number = 3},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .number = 5},
    {.name = "message", .number = 6},
};
constexpr Type kNodeCondition{.name = "NodeCondition", .fields = kNodeConditionFields};

constexpr Field kNodeAddressFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "address", .required_zero = true, .number = 2},
};
constexpr Type kNodeAddress{.name = "NodeAddress", .fields = kNodeAddressFields};

constexpr Field kDaemonEndpointFields[] = {
    {.name = "Port", .scalar = Scalar::int32, .required_zero = true, .number = 1},
};
constexpr Type kDaemonEndpoint{.name = "DaemonEndpoint", .fields = kDaemonEndpointFields};

constexpr Field kNodeDaemonEndpointsFields[] = {
    {.name = "kubeletEndpoint",
     .scalar = Scalar::object,
     .type = &kDaemonEndpoint,
     .required_zero = true,
     .number = 1},
};
constexpr Type kNodeDaemonEndpoints{.name = "NodeDaemonEndpoints",
                                    .fields = kNodeDaemonEndpointsFields};

constexpr Field kNodeSwapStatusFields[] = {
    {.name = "capacity", .scalar = Scalar::int64, .keep_zero = true, .number = 1},
};
constexpr Type kNodeSwapStatus{.name = "NodeSwapStatus", .fields = kNodeSwapStatusFields};

constexpr Field kNodeSystemInfoFields[] = {
    {.name = "machineID", .required_zero = true, .number = 1},
    {.name = "systemUUID", .required_zero = true, .number = 2},
    {.name = "bootID", .required_zero = true, .number = 3},
    {.name = "kernelVersion", .required_zero = true, .number = 4},
    {.name = "osImage", .required_zero = true, .number = 5},
    {.name = "containerRuntimeVersion", .required_zero = true, .number = 6},
    {.name = "kubeletVersion", .required_zero = true, .number = 7},
    {.name = "kubeProxyVersion", .required_zero = true, .number = 8},
    {.name = "operatingSystem", .required_zero = true, .number = 9},
    {.name = "architecture", .required_zero = true, .number = 10},
    {.name = "swap",
     .scalar = Scalar::object,
     .type = &kNodeSwapStatus,
     .keep_zero = true,
     .number = 11},
};
constexpr Type kNodeSystemInfo{.name = "NodeSystemInfo", .fields = kNodeSystemInfoFields};

constexpr Field kContainerImageFields[] = {
    {.name = "names", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "sizeBytes", .scalar = Scalar::int64, .number = 2},
};
constexpr Type kContainerImage{.name = "ContainerImage", .fields = kContainerImageFields};

constexpr Field kAttachedVolumeFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "devicePath", .required_zero = true, .number = 2},
};
constexpr Type kAttachedVolume{.name = "AttachedVolume", .fields = kAttachedVolumeFields};

constexpr Field kNodeConfigStatusFields[] = {
    {.name = "assigned",
     .scalar = Scalar::object,
     .type = &kNodeConfigSource,
     .keep_zero = true,
     .number = 1},
    {.name = "active",
     .scalar = Scalar::object,
     .type = &kNodeConfigSource,
     .keep_zero = true,
     .number = 2},
    {.name = "lastKnownGood",
     .scalar = Scalar::object,
     .type = &kNodeConfigSource,
     .keep_zero = true,
     .number = 3},
    {.name = "error", .number = 4},
};
constexpr Type kNodeConfigStatus{.name = "NodeConfigStatus", .fields = kNodeConfigStatusFields};

constexpr Field kNodeRuntimeHandlerFeaturesFields[] = {
    {.name = "recursiveReadOnlyMounts", .scalar = Scalar::boolean, .keep_zero = true, .number = 1},
    {.name = "userNamespaces", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
};
constexpr Type kNodeRuntimeHandlerFeatures{.name = "NodeRuntimeHandlerFeatures",
                                           .fields = kNodeRuntimeHandlerFeaturesFields};

constexpr Field kNodeRuntimeHandlerFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "features",
     .scalar = Scalar::object,
     .type = &kNodeRuntimeHandlerFeatures,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kNodeRuntimeHandler{.name = "NodeRuntimeHandler",
                                   .fields = kNodeRuntimeHandlerFields};

constexpr Field kNodeFeaturesFields[] = {
    {.name = "supplementalGroupsPolicy", .scalar = Scalar::boolean, .keep_zero = true, .number = 1},
};
constexpr Type kNodeFeatures{.name = "NodeFeatures", .fields = kNodeFeaturesFields};

constexpr Field kNodeStatusFields[] = {
    {.name = "capacity", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "allocatable", .scalar = Scalar::quantity, .shape = Shape::map, .number = 2},
    {.name = "phase", .number = 3},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 4},
    {.name = "addresses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeAddress,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 5},
    {.name = "daemonEndpoints",
     .scalar = Scalar::object,
     .type = &kNodeDaemonEndpoints,
     .required_zero = true,
     .number = 6},
    {.name = "nodeInfo",
     .scalar = Scalar::object,
     .type = &kNodeSystemInfo,
     .required_zero = true,
     .number = 7},
    {.name = "images",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerImage,
     .number = 8},
    {.name = "volumesInUse", .shape = Shape::list, .number = 9},
    {.name = "volumesAttached",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kAttachedVolume,
     .number = 10},
    {.name = "config",
     .scalar = Scalar::object,
     .type = &kNodeConfigStatus,
     .keep_zero = true,
     .number = 11},
    {.name = "runtimeHandlers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeRuntimeHandler,
     .number = 12},
    {.name = "features",
     .scalar = Scalar::object,
     .type = &kNodeFeatures,
     .keep_zero = true,
     .number = 13},
};
constexpr Type kNodeStatus{.name = "NodeStatus", .fields = kNodeStatusFields};

constexpr Field kNodeFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kNodeSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kNodeStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kNode{.name = "Node", .fields = kNodeFields};

}  // namespace plim::local::apiserver
