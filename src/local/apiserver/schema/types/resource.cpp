// The group resource.k8s.io: claims on devices and what drivers publish.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kCELDeviceSelectorFields[] = {
    {.name = "expression", .required_zero = true, .number = 1},
};
constexpr Type kCELDeviceSelector{.name = "CELDeviceSelector", .fields = kCELDeviceSelectorFields};

constexpr Field kDeviceSelectorFields[] = {
    {.name = "cel",
     .scalar = Scalar::object,
     .type = &kCELDeviceSelector,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kDeviceSelector{.name = "DeviceSelector", .fields = kDeviceSelectorFields};

constexpr Field kDeviceTolerationFields[] = {
    {.name = "key", .number = 1},
    {.name = "operator", .fallback = R"("Equal")", .number = 2},
    {.name = "value", .number = 3},
    {.name = "effect", .number = 4},
    {.name = "tolerationSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 5},
};
constexpr Type kDeviceToleration{.name = "DeviceToleration", .fields = kDeviceTolerationFields};

constexpr Field kCapacityRequirementsFields[] = {
    {.name = "requests", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
};
constexpr Type kCapacityRequirements{.name = "CapacityRequirements",
                                     .fields = kCapacityRequirementsFields};

constexpr Field kExactDeviceRequestFields[] = {
    {.name = "deviceClassName", .required_zero = true, .number = 1},
    {.name = "selectors",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceSelector,
     .number = 2},
    {.name = "allocationMode", .fallback = R"("ExactCount")", .number = 3},
    {.name = "count", .scalar = Scalar::int64, .number = 4},
    {.name = "adminAccess", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "tolerations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceToleration,
     .number = 6},
    {.name = "capacity",
     .scalar = Scalar::object,
     .type = &kCapacityRequirements,
     .keep_zero = true,
     .number = 7},
};
constexpr Type kExactDeviceRequest{.name = "ExactDeviceRequest",
                                   .fields = kExactDeviceRequestFields};

constexpr Field kDeviceSubRequestFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "deviceClassName", .required_zero = true, .number = 2},
    {.name = "selectors",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceSelector,
     .number = 3},
    {.name = "allocationMode", .fallback = R"("ExactCount")", .number = 4},
    {.name = "count", .scalar = Scalar::int64, .number = 5},
    {.name = "tolerations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceToleration,
     .number = 6},
    {.name = "capacity",
     .scalar = Scalar::object,
     .type = &kCapacityRequirements,
     .keep_zero = true,
     .number = 7},
};
constexpr Type kDeviceSubRequest{.name = "DeviceSubRequest", .fields = kDeviceSubRequestFields};

constexpr Field kDeviceRequestFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "exactly",
     .scalar = Scalar::object,
     .type = &kExactDeviceRequest,
     .keep_zero = true,
     .number = 2},
    {.name = "firstAvailable",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceSubRequest,
     .number = 3},
};
constexpr Type kDeviceRequest{.name = "DeviceRequest", .fields = kDeviceRequestFields};

constexpr Field kDeviceConstraintFields[] = {
    {.name = "requests", .shape = Shape::list, .number = 1},
    {.name = "matchAttribute", .keep_zero = true, .number = 2},
    {.name = "distinctAttribute", .keep_zero = true, .number = 3},
};
constexpr Type kDeviceConstraint{.name = "DeviceConstraint", .fields = kDeviceConstraintFields};

constexpr Field kOpaqueDeviceConfigurationFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "parameters", .scalar = Scalar::any, .number = 2},
};
constexpr Type kOpaqueDeviceConfiguration{.name = "OpaqueDeviceConfiguration",
                                          .fields = kOpaqueDeviceConfigurationFields};

constexpr Field kDeviceClaimConfigurationFields[] = {
    {.name = "requests", .shape = Shape::list, .number = 1},
    {.name = "opaque",
     .scalar = Scalar::object,
     .type = &kOpaqueDeviceConfiguration,
     .keep_zero = true,
     .number = 1,
     .inside = 2},
};
constexpr Type kDeviceClaimConfiguration{.name = "DeviceClaimConfiguration",
                                         .fields = kDeviceClaimConfigurationFields};

constexpr Field kDeviceClaimFields[] = {
    {.name = "requests",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceRequest,
     .keep_zero = true,
     .number = 1},
    {.name = "constraints",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceConstraint,
     .number = 2},
    {.name = "config",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceClaimConfiguration,
     .number = 3},
};
constexpr Type kDeviceClaim{.name = "DeviceClaim", .fields = kDeviceClaimFields};

constexpr Field kResourceClaimSpecFields[] = {
    {.name = "devices",
     .scalar = Scalar::object,
     .type = &kDeviceClaim,
     .required_zero = true,
     .number = 1},
};
constexpr Type kResourceClaimSpec{.name = "ResourceClaimSpec", .fields = kResourceClaimSpecFields};

constexpr Field kDeviceRequestAllocationResultFields[] = {
    {.name = "request", .required_zero = true, .number = 1},
    {.name = "driver", .required_zero = true, .number = 2},
    {.name = "pool", .required_zero = true, .number = 3},
    {.name = "device", .required_zero = true, .number = 4},
    {.name = "adminAccess", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "tolerations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceToleration,
     .number = 6},
    {.name = "bindingConditions", .shape = Shape::list, .number = 7},
    {.name = "bindingFailureConditions", .shape = Shape::list, .number = 8},
    {.name = "shareID", .keep_zero = true, .number = 9},
    {.name = "consumedCapacity", .scalar = Scalar::quantity, .shape = Shape::map, .number = 10},
};
constexpr Type kDeviceRequestAllocationResult{.name = "DeviceRequestAllocationResult",
                                              .fields = kDeviceRequestAllocationResultFields};

constexpr Field kDeviceAllocationConfigurationFields[] = {
    {.name = "source", .required_zero = true, .number = 1},
    {.name = "requests", .shape = Shape::list, .number = 2},
    {.name = "opaque",
     .scalar = Scalar::object,
     .type = &kOpaqueDeviceConfiguration,
     .keep_zero = true,
     .number = 1,
     .inside = 3},
};
constexpr Type kDeviceAllocationConfiguration{.name = "DeviceAllocationConfiguration",
                                              .fields = kDeviceAllocationConfigurationFields};

constexpr Field kDeviceAllocationResultFields[] = {
    {.name = "results",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceRequestAllocationResult,
     .number = 1},
    {.name = "config",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceAllocationConfiguration,
     .number = 2},
};
constexpr Type kDeviceAllocationResult{.name = "DeviceAllocationResult",
                                       .fields = kDeviceAllocationResultFields};

constexpr Field kAllocationResultFields[] = {
    {.name = "devices",
     .scalar = Scalar::object,
     .type = &kDeviceAllocationResult,
     .required_zero = true,
     .number = 1},
    {.name = "nodeSelector",
     .scalar = Scalar::object,
     .type = &kNodeSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "allocationTimestamp", .scalar = Scalar::time, .keep_zero = true, .number = 5},
};
constexpr Type kAllocationResult{.name = "AllocationResult", .fields = kAllocationResultFields};

constexpr Field kResourceClaimConsumerReferenceFields[] = {
    {.name = "apiGroup", .number = 1},
    {.name = "resource", .required_zero = true, .number = 3},
    {.name = "name", .required_zero = true, .number = 4},
    {.name = "uid", .required_zero = true, .number = 5},
};
constexpr Type kResourceClaimConsumerReference{.name = "ResourceClaimConsumerReference",
                                               .fields = kResourceClaimConsumerReferenceFields};

constexpr Field kNetworkDeviceDataFields[] = {
    {.name = "interfaceName", .number = 1},
    {.name = "ips", .shape = Shape::list, .number = 2},
    {.name = "hardwareAddress", .number = 3},
};
constexpr Type kNetworkDeviceData{.name = "NetworkDeviceData", .fields = kNetworkDeviceDataFields};

constexpr Field kAllocatedDeviceStatusFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "pool", .required_zero = true, .number = 2},
    {.name = "device", .required_zero = true, .number = 3},
    {.name = "shareID", .keep_zero = true, .number = 7},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .keep_zero = true,
     .number = 4},
    {.name = "data", .scalar = Scalar::any, .keep_zero = true, .number = 5},
    {.name = "networkData",
     .scalar = Scalar::object,
     .type = &kNetworkDeviceData,
     .keep_zero = true,
     .number = 6},
};
constexpr Type kAllocatedDeviceStatus{.name = "AllocatedDeviceStatus",
                                      .fields = kAllocatedDeviceStatusFields};

constexpr Field kResourceClaimStatusFields[] = {
    {.name = "allocation",
     .scalar = Scalar::object,
     .type = &kAllocationResult,
     .keep_zero = true,
     .number = 1},
    {.name = "reservedFor",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kResourceClaimConsumerReference,
     .list = ListKind::map,
     .list_keys = "uid",
     .merge_key = "uid",
     .merge = true,
     .number = 2},
    {.name = "devices",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kAllocatedDeviceStatus,
     .list = ListKind::map,
     .list_keys = "driver,device,pool,shareID",
     .number = 4},
};
constexpr Type kResourceClaimStatus{.name = "ResourceClaimStatus",
                                    .fields = kResourceClaimStatusFields};

constexpr Field kDeviceResourceClaimFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kResourceClaimSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kResourceClaimStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kDeviceResourceClaim{.name = "ResourceClaim", .fields = kDeviceResourceClaimFields};

constexpr Field kResourceClaimTemplateSpecFields[] = {
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kResourceClaimSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kResourceClaimTemplateSpec{.name = "ResourceClaimTemplateSpec",
                                          .fields = kResourceClaimTemplateSpecFields};

constexpr Field kResourceClaimTemplateFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kResourceClaimTemplateSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kResourceClaimTemplate{.name = "ResourceClaimTemplate",
                                      .fields = kResourceClaimTemplateFields};

constexpr Field kResourcePoolFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "generation", .scalar = Scalar::int64, .required_zero = true, .number = 2},
    {.name = "resourceSliceCount", .scalar = Scalar::int64, .required_zero = true, .number = 3},
};
constexpr Type kResourcePool{.name = "ResourcePool", .fields = kResourcePoolFields};

constexpr Field kDeviceAttributeFields[] = {
    {.name = "int", .scalar = Scalar::int64, .keep_zero = true, .number = 2},
    {.name = "bool", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
    {.name = "string", .keep_zero = true, .number = 4},
    {.name = "version", .keep_zero = true, .number = 5},
};
constexpr Type kDeviceAttribute{.name = "DeviceAttribute", .fields = kDeviceAttributeFields};

constexpr Field kCapacityRequestPolicyRangeFields[] = {
    {.name = "min", .scalar = Scalar::quantity, .keep_zero = true, .number = 1},
    {.name = "max", .scalar = Scalar::quantity, .keep_zero = true, .number = 2},
    {.name = "step", .scalar = Scalar::quantity, .keep_zero = true, .number = 3},
};
constexpr Type kCapacityRequestPolicyRange{.name = "CapacityRequestPolicyRange",
                                           .fields = kCapacityRequestPolicyRangeFields};

constexpr Field kCapacityRequestPolicyFields[] = {
    {.name = "default", .scalar = Scalar::quantity, .keep_zero = true, .number = 1},
    {.name = "validValues", .scalar = Scalar::quantity, .shape = Shape::list, .number = 3},
    {.name = "validRange",
     .scalar = Scalar::object,
     .type = &kCapacityRequestPolicyRange,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kCapacityRequestPolicy{.name = "CapacityRequestPolicy",
                                      .fields = kCapacityRequestPolicyFields};

constexpr Field kDeviceCapacityFields[] = {
    {.name = "value", .scalar = Scalar::quantity, .required_zero = true, .number = 1},
    {.name = "requestPolicy",
     .scalar = Scalar::object,
     .type = &kCapacityRequestPolicy,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kDeviceCapacity{.name = "DeviceCapacity", .fields = kDeviceCapacityFields};

constexpr Field kCounterFields[] = {
    {.name = "value", .scalar = Scalar::quantity, .required_zero = true, .number = 1},
};
constexpr Type kCounter{.name = "Counter", .fields = kCounterFields};

constexpr Field kDeviceCounterConsumptionFields[] = {
    {.name = "counterSet", .required_zero = true, .number = 1},
    {.name = "counters",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kCounter,
     .number = 2},
};
constexpr Type kDeviceCounterConsumption{.name = "DeviceCounterConsumption",
                                         .fields = kDeviceCounterConsumptionFields};

constexpr Field kDeviceTaintFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "value", .number = 2},
    {.name = "effect", .required_zero = true, .number = 3},
    {.name = "timeAdded", .scalar = Scalar::time, .keep_zero = true, .number = 4},
};
constexpr Type kDeviceTaint{.name = "DeviceTaint", .fields = kDeviceTaintFields};

constexpr Field kDeviceFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "attributes",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kDeviceAttribute,
     .number = 2},
    {.name = "capacity",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kDeviceCapacity,
     .number = 3},
    {.name = "consumesCounters",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceCounterConsumption,
     .number = 4},
    {.name = "nodeName", .keep_zero = true, .number = 5},
    {.name = "nodeSelector",
     .scalar = Scalar::object,
     .type = &kNodeSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 6},
    {.name = "allNodes", .scalar = Scalar::boolean, .keep_zero = true, .number = 7},
    {.name = "taints",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceTaint,
     .number = 8},
    {.name = "bindsToNode", .scalar = Scalar::boolean, .keep_zero = true, .number = 9},
    {.name = "bindingConditions", .shape = Shape::list, .number = 10},
    {.name = "bindingFailureConditions", .shape = Shape::list, .number = 11},
    {.name = "allowMultipleAllocations",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 12},
};
constexpr Type kDevice{.name = "Device", .fields = kDeviceFields};

constexpr Field kCounterSetFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "counters",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kCounter,
     .number = 2},
};
constexpr Type kCounterSet{.name = "CounterSet", .fields = kCounterSetFields};

constexpr Field kResourceSliceSpecFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "pool",
     .scalar = Scalar::object,
     .type = &kResourcePool,
     .required_zero = true,
     .number = 2},
    {.name = "nodeName", .keep_zero = true, .number = 3},
    {.name = "nodeSelector",
     .scalar = Scalar::object,
     .type = &kNodeSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "allNodes", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "devices",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDevice,
     .keep_zero = true,
     .number = 6},
    {.name = "perDeviceNodeSelection", .scalar = Scalar::boolean, .keep_zero = true, .number = 7},
    {.name = "sharedCounters",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCounterSet,
     .number = 8},
};
constexpr Type kResourceSliceSpec{.name = "ResourceSliceSpec", .fields = kResourceSliceSpecFields};

constexpr Field kResourceSliceFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kResourceSliceSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kResourceSlice{.name = "ResourceSlice", .fields = kResourceSliceFields};

constexpr Field kDeviceClassConfigurationFields[] = {
    {.name = "opaque",
     .scalar = Scalar::object,
     .type = &kOpaqueDeviceConfiguration,
     .keep_zero = true,
     .number = 1,
     .inside = 1},
};
constexpr Type kDeviceClassConfiguration{.name = "DeviceClassConfiguration",
                                         .fields = kDeviceClassConfigurationFields};

constexpr Field kDeviceClassSpecFields[] = {
    {.name = "selectors",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceSelector,
     .number = 1},
    {.name = "config",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDeviceClassConfiguration,
     .number = 2},
    {.name = "extendedResourceName", .keep_zero = true, .number = 4},
};
constexpr Type kDeviceClassSpec{.name = "DeviceClassSpec", .fields = kDeviceClassSpecFields};

constexpr Field kDeviceClassFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kDeviceClassSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kDeviceClass{.name = "DeviceClass", .fields = kDeviceClassFields};

}  // namespace plim::local::apiserver
