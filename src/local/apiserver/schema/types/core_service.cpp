// Service and Endpoints.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kServicePortFields[] = {
    {.name = "name", .number = 1},
    {.name = "protocol", .fallback = R"("TCP")", .number = 2},
    {.name = "appProtocol", .keep_zero = true, .number = 6},
    {.name = "port", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "targetPort", .scalar = Scalar::int_or_string, .required_zero = true, .number = 4},
    {.name = "nodePort", .scalar = Scalar::int32, .number = 5},
};
constexpr Type kServicePort{.name = "ServicePort", .fields = kServicePortFields};

constexpr Field kClientIPConfigFields[] = {
    {.name = "timeoutSeconds", .scalar = Scalar::int32, .keep_zero = true, .number = 1},
};
constexpr Type kClientIPConfig{.name = "ClientIPConfig", .fields = kClientIPConfigFields};

constexpr Field kSessionAffinityConfigFields[] = {
    {.name = "clientIP",
     .scalar = Scalar::object,
     .type = &kClientIPConfig,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kSessionAffinityConfig{.name = "SessionAffinityConfig",
                                      .fields = kSessionAffinityConfigFields};

constexpr Field kServiceSpecFields[] = {
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kServicePort,
     .list = ListKind::map,
     .list_keys = "port,protocol",
     .merge_key = "port",
     .merge = true,
     .number = 1},
    {.name = "selector", .shape = Shape::map, .atomic = true, .number = 2},
    {.name = "clusterIP", .number = 3},
    {.name = "clusterIPs", .shape = Shape::list, .number = 18},
    {.name = "type", .fallback = R"("ClusterIP")", .number = 4},
    {.name = "externalIPs", .shape = Shape::list, .number = 5},
    {.name = "sessionAffinity", .fallback = R"("None")", .number = 7},
    {.name = "loadBalancerIP", .number = 8},
    {.name = "loadBalancerSourceRanges", .shape = Shape::list, .number = 9},
    {.name = "externalName", .number = 10},
    {.name = "externalTrafficPolicy", .number = 11},
    {.name = "healthCheckNodePort", .scalar = Scalar::int32, .number = 12},
    {.name = "publishNotReadyAddresses", .scalar = Scalar::boolean, .number = 13},
    {.name = "sessionAffinityConfig",
     .scalar = Scalar::object,
     .type = &kSessionAffinityConfig,
     .keep_zero = true,
     .number = 14},
    {.name = "ipFamilies", .shape = Shape::list, .number = 19},
    {.name = "ipFamilyPolicy", .keep_zero = true, .number = 17},
    {.name = "allocateLoadBalancerNodePorts",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 20},
    {.name = "loadBalancerClass", .keep_zero = true, .number = 21},
    {.name = "internalTrafficPolicy", .keep_zero = true, .number = 22},
    {.name = "trafficDistribution", .keep_zero = true, .number = 23},
};
constexpr Type kServiceSpec{.name = "ServiceSpec", .fields = kServiceSpecFields};

constexpr Field kPortStatusFields[] = {
    {.name = "port", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "protocol", .required_zero = true, .number = 2},
    {.name = "error", .keep_zero = true, .number = 3},
};
constexpr Type kPortStatus{.name = "PortStatus", .fields = kPortStatusFields};

constexpr Field kLoadBalancerIngressFields[] = {
    {.name = "ip", .number = 1},
    {.name = "hostname", .number = 2},
    {.name = "ipMode", .keep_zero = true, .number = 3},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPortStatus,
     .number = 4},
};
constexpr Type kLoadBalancerIngress{.name = "LoadBalancerIngress",
                                    .fields = kLoadBalancerIngressFields};

constexpr Field kLoadBalancerStatusFields[] = {
    {.name = "ingress",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLoadBalancerIngress,
     .number = 1},
};
constexpr Type kLoadBalancerStatus{.name = "LoadBalancerStatus",
                                   .fields = kLoadBalancerStatusFields};

constexpr Field kServiceStatusFields[] = {
    {.name = "loadBalancer",
     .scalar = Scalar::object,
     .type = &kLoadBalancerStatus,
     .required_zero = true,
     .number = 1},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 2},
};
constexpr Type kServiceStatus{.name = "ServiceStatus", .fields = kServiceStatusFields};

constexpr Field kServiceFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kServiceSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kServiceStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kService{.name = "Service", .fields = kServiceFields};

constexpr Field kEndpointAddressFields[] = {
    {.name = "ip", .required_zero = true, .number = 1},
    {.name = "hostname", .number = 3},
    {.name = "nodeName", .keep_zero = true, .number = 4},
    {.name = "targetRef",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kEndpointAddress{.name = "EndpointAddress", .fields = kEndpointAddressFields};

constexpr Field kCoreEndpointPortFields[] = {
    {.name = "name", .number = 1},
    {.name = "port", .scalar = Scalar::int32, .required_zero = true, .number = 2},
    {.name = "protocol", .fallback = R"("TCP")", .number = 3},
    {.name = "appProtocol", .keep_zero = true, .number = 4},
};
constexpr Type kCoreEndpointPort{.name = "EndpointPort", .fields = kCoreEndpointPortFields};

constexpr Field kEndpointSubsetFields[] = {
    {.name = "addresses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEndpointAddress,
     .number = 1},
    {.name = "notReadyAddresses",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEndpointAddress,
     .number = 2},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCoreEndpointPort,
     .number = 3},
};
constexpr Type kEndpointSubset{.name = "EndpointSubset", .fields = kEndpointSubsetFields};

constexpr Field kEndpointsFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "subsets",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEndpointSubset,
     .number = 2},
};
constexpr Type kEndpoints{.name = "Endpoints", .fields = kEndpointsFields};

}  // namespace plim::local::apiserver
