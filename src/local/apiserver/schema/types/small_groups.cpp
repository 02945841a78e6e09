// Groups with one or two kinds: leases, events, endpoint slices, priority and runtime classes,
// metrics.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kLeaseSpecFields[] = {
    {.name = "holderIdentity", .keep_zero = true, .number = 1},
    {.name = "leaseDurationSeconds", .scalar = Scalar::int32, .keep_zero = true, .number = 2},
    {.name = "acquireTime", .scalar = Scalar::micro_time, .keep_zero = true, .number = 3},
    {.name = "renewTime", .scalar = Scalar::micro_time, .keep_zero = true, .number = 4},
    {.name = "leaseTransitions", .scalar = Scalar::int32, .keep_zero = true, .number = 5},
    {.name = "strategy", .keep_zero = true, .number = 6},
    {.name = "preferredHolder", .keep_zero = true, .number = 7},
};
constexpr Type kLeaseSpec{.name = "LeaseSpec", .fields = kLeaseSpecFields};

constexpr Field kLeaseFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kLeaseSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kLease{.name = "Lease", .fields = kLeaseFields};

constexpr Field kEventsEventSeriesFields[] = {
    {.name = "count", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "lastObservedTime", .scalar = Scalar::micro_time, .number = 2},
};
constexpr Type kEventsEventSeries{.name = "EventSeries", .fields = kEventsEventSeriesFields};

constexpr Field kEventsEventFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "eventTime", .scalar = Scalar::micro_time, .number = 2},
    {.name = "series",
     .scalar = Scalar::object,
     .type = &kEventsEventSeries,
     .keep_zero = true,
     .number = 3},
    {.name = "reportingController", .number = 4},
    {.name = "reportingInstance", .number = 5},
    {.name = "action", .number = 6},
    {.name = "reason", .number = 7},
    {.name = "regarding",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .required_zero = true,
     .number = 8},
    {.name = "related",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 9},
    {.name = "note", .number = 10},
    {.name = "type", .number = 11},
    {.name = "deprecatedSource",
     .scalar = Scalar::object,
     .type = &kEventSource,
     .required_zero = true,
     .number = 12},
    {.name = "deprecatedFirstTimestamp", .scalar = Scalar::time, .number = 13},
    {.name = "deprecatedLastTimestamp", .scalar = Scalar::time, .number = 14},
    {.name = "deprecatedCount", .scalar = Scalar::int32, .number = 15},
};
constexpr Type kEventsEvent{.name = "Event", .fields = kEventsEventFields};

constexpr Field kEndpointConditionsFields[] = {
    {.name = "ready", .scalar = Scalar::boolean, .keep_zero = true, .number = 1},
    {.name = "serving", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
    {.name = "terminating", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
};
constexpr Type kEndpointConditions{.name = "EndpointConditions",
                                   .fields = kEndpointConditionsFields};

constexpr Field kForZoneFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
};
constexpr Type kForZone{.name = "ForZone", .fields = kForZoneFields};

constexpr Field kForNodeFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
};
constexpr Type kForNode{.name = "ForNode", .fields = kForNodeFields};

constexpr Field kEndpointHintsFields[] = {
    {.name = "forZones",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kForZone,
     .number = 1},
    {.name = "forNodes",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kForNode,
     .number = 2},
};
constexpr Type kEndpointHints{.name = "EndpointHints", .fields = kEndpointHintsFields};

constexpr Field kEndpointFields[] = {
    {.name = "addresses",
     .shape = Shape::list,
     .list = ListKind::set,
     .keep_zero = true,
     .number = 1},
    {.name = "conditions",
     .scalar = Scalar::object,
     .type = &kEndpointConditions,
     .required_zero = true,
     .number = 2},
    {.name = "hostname", .keep_zero = true, .number = 3},
    {.name = "targetRef",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "deprecatedTopology", .shape = Shape::map, .number = 5},
    {.name = "nodeName", .keep_zero = true, .number = 6},
    {.name = "zone", .keep_zero = true, .number = 7},
    {.name = "hints",
     .scalar = Scalar::object,
     .type = &kEndpointHints,
     .keep_zero = true,
     .number = 8},
};
constexpr Type kEndpoint{.name = "Endpoint", .fields = kEndpointFields};

constexpr Field kDiscoveryEndpointPortFields[] = {
    {.name = "name", .keep_zero = true, .fallback = R"("")", .number = 1},
    {.name = "protocol", .keep_zero = true, .fallback = R"("TCP")", .number = 2},
    {.name = "port", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
    {.name = "appProtocol", .keep_zero = true, .number = 4},
};
constexpr Type kDiscoveryEndpointPort{.name = "EndpointPort",
                                      .fields = kDiscoveryEndpointPortFields};

constexpr Field kEndpointSliceFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "addressType", .required_zero = true, .number = 4},
    {.name = "endpoints",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEndpoint,
     .keep_zero = true,
     .number = 2},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kDiscoveryEndpointPort,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kEndpointSlice{.name = "EndpointSlice", .fields = kEndpointSliceFields};

constexpr Field kPriorityClassFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "value", .scalar = Scalar::int32, .required_zero = true, .number = 2},
    {.name = "globalDefault", .scalar = Scalar::boolean, .number = 3},
    {.name = "description", .number = 4},
    {.name = "preemptionPolicy",
     .keep_zero = true,
     .fallback = R"("PreemptLowerPriority")",
     .number = 5},
};
constexpr Type kPriorityClass{.name = "PriorityClass", .fields = kPriorityClassFields};

constexpr Field kOverheadFields[] = {
    {.name = "podFixed", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
};
constexpr Type kOverhead{.name = "Overhead", .fields = kOverheadFields};

constexpr Field kSchedulingFields[] = {
    {.name = "nodeSelector", .shape = Shape::map, .atomic = true, .number = 1},
    {.name = "tolerations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kToleration,
     .number = 2},
};
constexpr Type kScheduling{.name = "Scheduling", .fields = kSchedulingFields};

constexpr Field kRuntimeClassFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "handler", .required_zero = true, .number = 2},
    {.name = "overhead",
     .scalar = Scalar::object,
     .type = &kOverhead,
     .keep_zero = true,
     .number = 3},
    {.name = "scheduling",
     .scalar = Scalar::object,
     .type = &kScheduling,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kRuntimeClass{.name = "RuntimeClass", .fields = kRuntimeClassFields};

constexpr Field kNodeMetricsFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "timestamp", .scalar = Scalar::time, .number = 2},
    {.name = "window", .scalar = Scalar::duration, .required_zero = true, .number = 3},
    {.name = "usage",
     .scalar = Scalar::quantity,
     .shape = Shape::map,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kNodeMetrics{.name = "NodeMetrics", .fields = kNodeMetricsFields};

constexpr Field kContainerMetricsFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "usage",
     .scalar = Scalar::quantity,
     .shape = Shape::map,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kContainerMetrics{.name = "ContainerMetrics", .fields = kContainerMetricsFields};

constexpr Field kPodMetricsFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "timestamp", .scalar = Scalar::time, .number = 2},
    {.name = "window", .scalar = Scalar::duration, .required_zero = true, .number = 3},
    {.name = "containers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerMetrics,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kPodMetrics{.name = "PodMetrics", .fields = kPodMetricsFields};

}  // namespace plim::local::apiserver
