// The group networking.k8s.io.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kServiceBackendPortFields[] = {
    {.name = "name", .number = 1},
    {.name = "number", .scalar = Scalar::int32, .number = 2},
};
constexpr Type kServiceBackendPort{.name = "ServiceBackendPort",
                                   .fields = kServiceBackendPortFields};

constexpr Field kIngressServiceBackendFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "port",
     .scalar = Scalar::object,
     .type = &kServiceBackendPort,
     .atomic = true,
     .required_zero = true,
     .number = 2},
};
constexpr Type kIngressServiceBackend{.name = "IngressServiceBackend",
                                      .fields = kIngressServiceBackendFields};

constexpr Field kIngressBackendFields[] = {
    {.name = "service",
     .scalar = Scalar::object,
     .type = &kIngressServiceBackend,
     .keep_zero = true,
     .number = 4},
    {.name = "resource",
     .scalar = Scalar::object,
     .type = &kTypedLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kIngressBackend{.name = "IngressBackend", .fields = kIngressBackendFields};

constexpr Field kIngressTLSFields[] = {
    {.name = "hosts", .shape = Shape::list, .number = 1},
    {.name = "secretName", .number = 2},
};
constexpr Type kIngressTLS{.name = "IngressTLS", .fields = kIngressTLSFields};

constexpr Field kHTTPIngressPathFields[] = {
    {.name = "path", .number = 1},
    {.name = "pathType", .keep_zero = true, .number = 3},
    {.name = "backend",
     .scalar = Scalar::object,
     .type = &kIngressBackend,
     .required_zero = true,
     .number = 2},
};
constexpr Type kHTTPIngressPath{.name = "HTTPIngressPath", .fields = kHTTPIngressPathFields};

constexpr Field kHTTPIngressRuleValueFields[] = {
    {.name = "paths",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHTTPIngressPath,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kHTTPIngressRuleValue{.name = "HTTPIngressRuleValue",
                                     .fields = kHTTPIngressRuleValueFields};

constexpr Field kIngressRuleFields[] = {
    {.name = "host", .number = 1},
    {.name = "http",
     .scalar = Scalar::object,
     .type = &kHTTPIngressRuleValue,
     .keep_zero = true,
     .number = 1,
     .inside = 2},
};
constexpr Type kIngressRule{.name = "IngressRule", .fields = kIngressRuleFields};

constexpr Field kIngressSpecFields[] = {
    {.name = "ingressClassName", .keep_zero = true, .number = 4},
    {.name = "defaultBackend",
     .scalar = Scalar::object,
     .type = &kIngressBackend,
     .keep_zero = true,
     .number = 1},
    {.name = "tls",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kIngressTLS,
     .number = 2},
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kIngressRule,
     .number = 3},
};
constexpr Type kIngressSpec{.name = "IngressSpec", .fields = kIngressSpecFields};

constexpr Field kIngressPortStatusFields[] = {
    {.name = "port", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "protocol", .required_zero = true, .number = 2},
    {.name = "error", .keep_zero = true, .number = 3},
};
constexpr Type kIngressPortStatus{.name = "IngressPortStatus", .fields = kIngressPortStatusFields};

constexpr Field kIngressLoadBalancerIngressFields[] = {
    {.name = "ip", .number = 1},
    {.name = "hostname", .number = 2},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kIngressPortStatus,
     .number = 4},
};
constexpr Type kIngressLoadBalancerIngress{.name = "IngressLoadBalancerIngress",
                                           .fields = kIngressLoadBalancerIngressFields};

constexpr Field kIngressLoadBalancerStatusFields[] = {
    {.name = "ingress",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kIngressLoadBalancerIngress,
     .number = 1},
};
constexpr Type kIngressLoadBalancerStatus{.name = "IngressLoadBalancerStatus",
                                          .fields = kIngressLoadBalancerStatusFields};

constexpr Field kIngressStatusFields[] = {
    {.name = "loadBalancer",
     .scalar = Scalar::object,
     .type = &kIngressLoadBalancerStatus,
     .required_zero = true,
     .number = 1},
};
constexpr Type kIngressStatus{.name = "IngressStatus", .fields = kIngressStatusFields};

constexpr Field kIngressFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kIngressSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kIngressStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kIngress{.name = "Ingress", .fields = kIngressFields};

constexpr Field kIngressClassParametersReferenceFields[] = {
    {.name = "apiGroup", .keep_zero = true, .number = 1},
    {.name = "kind", .required_zero = true, .number = 2},
    {.name = "name", .required_zero = true, .number = 3},
    {.name = "scope", .keep_zero = true, .fallback = R"("Cluster")", .number = 4},
    {.name = "namespace", .keep_zero = true, .number = 5},
};
constexpr Type kIngressClassParametersReference{.name = "IngressClassParametersReference",
                                                .fields = kIngressClassParametersReferenceFields};

constexpr Field kIngressClassSpecFields[] = {
    {.name = "controller", .number = 1},
    {.name = "parameters",
     .scalar = Scalar::object,
     .type = &kIngressClassParametersReference,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kIngressClassSpec{.name = "IngressClassSpec", .fields = kIngressClassSpecFields};

constexpr Field kIngressClassFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kIngressClassSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kIngressClass{.name = "IngressClass", .fields = kIngressClassFields};

constexpr Field kNetworkPolicyPortFields[] = {
    {.name = "protocol", .keep_zero = true, .fallback = R"("TCP")", .number = 1},
    {.name = "port", .scalar = Scalar::int_or_string, .keep_zero = true, .number = 2},
    {.name = "endPort", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
};
constexpr Type kNetworkPolicyPort{.name = "NetworkPolicyPort", .fields = kNetworkPolicyPortFields};

constexpr Field kIPBlockFields[] = {
    {.name = "cidr", .required_zero = true, .number = 1},
    {.name = "except", .shape = Shape::list, .number = 2},
};
constexpr Type kIPBlock{.name = "IPBlock", .fields = kIPBlockFields};

constexpr Field kNetworkPolicyPeerFields[] = {
    {.name = "podSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "namespaceSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "ipBlock",
     .scalar = Scalar::object,
     .type = &kIPBlock,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kNetworkPolicyPeer{.name = "NetworkPolicyPeer", .fields = kNetworkPolicyPeerFields};

constexpr Field kNetworkPolicyIngressRuleFields[] = {
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyPort,
     .number = 1},
    {.name = "from",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyPeer,
     .number = 2},
};
constexpr Type kNetworkPolicyIngressRule{.name = "NetworkPolicyIngressRule",
                                         .fields = kNetworkPolicyIngressRuleFields};

constexpr Field kNetworkPolicyEgressRuleFields[] = {
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyPort,
     .number = 1},
    {.name = "to",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyPeer,
     .number = 2},
};
constexpr Type kNetworkPolicyEgressRule{.name = "NetworkPolicyEgressRule",
                                        .fields = kNetworkPolicyEgressRuleFields};

constexpr Field kNetworkPolicySpecFields[] = {
    {.name = "podSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .required_zero = true,
     .number = 1},
    {.name = "ingress",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyIngressRule,
     .number = 2},
    {.name = "egress",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNetworkPolicyEgressRule,
     .number = 3},
    {.name = "policyTypes", .shape = Shape::list, .number = 4},
};
constexpr Type kNetworkPolicySpec{.name = "NetworkPolicySpec", .fields = kNetworkPolicySpecFields};

constexpr Field kNetworkPolicyFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kNetworkPolicySpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kNetworkPolicy{.name = "NetworkPolicy", .fields = kNetworkPolicyFields};

}  // namespace plim::local::apiserver
