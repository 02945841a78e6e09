// HorizontalPodAutoscaler and Scale.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kCrossVersionObjectReferenceFields[] = {
    {.name = "kind", .required_zero = true, .number = 1},
    {.name = "name", .required_zero = true, .number = 2},
    {.name = "apiVersion", .number = 3},
};
constexpr Type kCrossVersionObjectReference{.name = "CrossVersionObjectReference",
                                            .fields = kCrossVersionObjectReferenceFields};

constexpr Field kMetricTargetFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "value", .scalar = Scalar::quantity, .keep_zero = true, .number = 2},
    {.name = "averageValue", .scalar = Scalar::quantity, .keep_zero = true, .number = 3},
    {.name = "averageUtilization", .scalar = Scalar::int32, .keep_zero = true, .number = 4},
};
constexpr Type kMetricTarget{.name = "MetricTarget", .fields = kMetricTargetFields};

constexpr Field kMetricIdentifierFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kMetricIdentifier{.name = "MetricIdentifier", .fields = kMetricIdentifierFields};

constexpr Field kObjectMetricSourceFields[] = {
    {.name = "describedObject",
     .scalar = Scalar::object,
     .type = &kCrossVersionObjectReference,
     .required_zero = true,
     .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kMetricTarget,
     .required_zero = true,
     .number = 2},
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 3},
};
constexpr Type kObjectMetricSource{.name = "ObjectMetricSource",
                                   .fields = kObjectMetricSourceFields};

constexpr Field kPodsMetricSourceFields[] = {
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kMetricTarget,
     .required_zero = true,
     .number = 2},
};
constexpr Type kPodsMetricSource{.name = "PodsMetricSource", .fields = kPodsMetricSourceFields};

constexpr Field kResourceMetricSourceFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kMetricTarget,
     .required_zero = true,
     .number = 2},
};
constexpr Type kResourceMetricSource{.name = "ResourceMetricSource",
                                     .fields = kResourceMetricSourceFields};

constexpr Field kContainerResourceMetricSourceFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kMetricTarget,
     .required_zero = true,
     .number = 2},
    {.name = "container", .required_zero = true, .number = 3},
};
constexpr Type kContainerResourceMetricSource{.name = "ContainerResourceMetricSource",
                                              .fields = kContainerResourceMetricSourceFields};

constexpr Field kExternalMetricSourceFields[] = {
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kMetricTarget,
     .required_zero = true,
     .number = 2},
};
constexpr Type kExternalMetricSource{.name = "ExternalMetricSource",
                                     .fields = kExternalMetricSourceFields};

constexpr Field kMetricSpecFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "object",
     .scalar = Scalar::object,
     .type = &kObjectMetricSource,
     .keep_zero = true,
     .number = 2},
    {.name = "pods",
     .scalar = Scalar::object,
     .type = &kPodsMetricSource,
     .keep_zero = true,
     .number = 3},
    {.name = "resource",
     .scalar = Scalar::object,
     .type = &kResourceMetricSource,
     .keep_zero = true,
     .number = 4},
    {.name = "containerResource",
     .scalar = Scalar::object,
     .type = &kContainerResourceMetricSource,
     .keep_zero = true,
     .number = 7},
    {.name = "external",
     .scalar = Scalar::object,
     .type = &kExternalMetricSource,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kMetricSpec{.name = "MetricSpec", .fields = kMetricSpecFields};

constexpr Field kHPAScalingPolicyFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "value", .scalar = Scalar::int32, .required_zero = true, .number = 2},
    {.name = "periodSeconds", .scalar = Scalar::int32, .required_zero = true, .number = 3},
};
constexpr Type kHPAScalingPolicy{.name = "HPAScalingPolicy", .fields = kHPAScalingPolicyFields};

constexpr Field kHPAScalingRulesFields[] = {
    {.name = "stabilizationWindowSeconds", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
    {.name = "selectPolicy", .keep_zero = true, .number = 1},
    {.name = "policies",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHPAScalingPolicy,
     .number = 2},
    {.name = "tolerance", .scalar = Scalar::quantity, .keep_zero = true, .number = 4},
};
constexpr Type kHPAScalingRules{.name = "HPAScalingRules", .fields = kHPAScalingRulesFields};

constexpr Field kHorizontalPodAutoscalerBehaviorFields[] = {
    {.name = "scaleUp",
     .scalar = Scalar::object,
     .type = &kHPAScalingRules,
     .keep_zero = true,
     .number = 1},
    {.name = "scaleDown",
     .scalar = Scalar::object,
     .type = &kHPAScalingRules,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kHorizontalPodAutoscalerBehavior{.name = "HorizontalPodAutoscalerBehavior",
                                                .fields = kHorizontalPodAutoscalerBehaviorFields};

constexpr Field kHorizontalPodAutoscalerSpecFields[] = {
    {.name = "scaleTargetRef",
     .scalar = Scalar::object,
     .type = &kCrossVersionObjectReference,
     .required_zero = true,
     .number = 1},
    {.name = "minReplicas",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "1",
     .number = 2},
    {.name = "maxReplicas", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "metrics",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMetricSpec,
     .fallback =
         R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}])",
     .number = 4},
    {.name = "behavior",
     .scalar = Scalar::object,
     .type = &kHorizontalPodAutoscalerBehavior,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kHorizontalPodAutoscalerSpec{.name = "HorizontalPodAutoscalerSpec",
                                            .fields = kHorizontalPodAutoscalerSpecFields};

constexpr Field kMetricValueStatusFields[] = {
    {.name = "value", .scalar = Scalar::quantity, .keep_zero = true, .number = 1},
    {.name = "averageValue", .scalar = Scalar::quantity, .keep_zero = true, .number = 2},
    {.name = "averageUtilization", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
};
constexpr Type kMetricValueStatus{.name = "MetricValueStatus", .fields = kMetricValueStatusFields};

constexpr Field kObjectMetricStatusFields[] = {
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 1},
    {.name = "current",
     .scalar = Scalar::object,
     .type = &kMetricValueStatus,
     .required_zero = true,
     .number = 2},
    {.name = "describedObject",
     .scalar = Scalar::object,
     .type = &kCrossVersionObjectReference,
     .required_zero = true,
     .number = 3},
};
constexpr Type kObjectMetricStatus{.name = "ObjectMetricStatus",
                                   .fields = kObjectMetricStatusFields};

constexpr Field kPodsMetricStatusFields[] = {
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 1},
    {.name = "current",
     .scalar = Scalar::object,
     .type = &kMetricValueStatus,
     .required_zero = true,
     .number = 2},
};
constexpr Type kPodsMetricStatus{.name = "PodsMetricStatus", .fields = kPodsMetricStatusFields};

constexpr Field kResourceMetricStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "current",
     .scalar = Scalar::object,
     .type = &kMetricValueStatus,
     .required_zero = true,
     .number = 2},
};
constexpr Type kResourceMetricStatus{.name = "ResourceMetricStatus",
                                     .fields = kResourceMetricStatusFields};

constexpr Field kContainerResourceMetricStatusFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "current",
     .scalar = Scalar::object,
     .type = &kMetricValueStatus,
     .required_zero = true,
     .number = 2},
    {.name = "container", .required_zero = true, .number = 3},
};
constexpr Type kContainerResourceMetricStatus{.name = "ContainerResourceMetricStatus",
                                              .fields = kContainerResourceMetricStatusFields};

constexpr Field kExternalMetricStatusFields[] = {
    {.name = "metric",
     .scalar = Scalar::object,
     .type = &kMetricIdentifier,
     .required_zero = true,
     .number = 1},
    {.name = "current",
     .scalar = Scalar::object,
     .type = &kMetricValueStatus,
     .required_zero = true,
     .number = 2},
};
constexpr Type kExternalMetricStatus{.name = "ExternalMetricStatus",
                                     .fields = kExternalMetricStatusFields};

constexpr Field kMetricStatusFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "object",
     .scalar = Scalar::object,
     .type = &kObjectMetricStatus,
     .keep_zero = true,
     .number = 2},
    {.name = "pods",
     .scalar = Scalar::object,
     .type = &kPodsMetricStatus,
     .keep_zero = true,
     .number = 3},
    {.name = "resource",
     .scalar = Scalar::object,
     .type = &kResourceMetricStatus,
     .keep_zero = true,
     .number = 4},
    {.name = "containerResource",
     .scalar = Scalar::object,
     .type = &kContainerResourceMetricStatus,
     .keep_zero = true,
     .number = 7},
    {.name = "external",
     .scalar = Scalar::object,
     .type = &kExternalMetricStatus,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kMetricStatus{.name = "MetricStatus", .fields = kMetricStatusFields};

constexpr Field kHorizontalPodAutoscalerConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kHorizontalPodAutoscalerCondition{.name = "HorizontalPodAutoscalerCondition",
                                                 .fields = kHorizontalPodAutoscalerConditionFields};

constexpr Field kHorizontalPodAutoscalerStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .keep_zero = true, .number = 1},
    {.name = "lastScaleTime", .scalar = Scalar::time, .keep_zero = true, .number = 2},
    {.name = "currentReplicas", .scalar = Scalar::int32, .number = 3},
    {.name = "desiredReplicas", .scalar = Scalar::int32, .required_zero = true, .number = 4},
    {.name = "currentMetrics",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMetricStatus,
     .keep_zero = true,
     .number = 5},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHorizontalPodAutoscalerCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 6},
};
constexpr Type kHorizontalPodAutoscalerStatus{.name = "HorizontalPodAutoscalerStatus",
                                              .fields = kHorizontalPodAutoscalerStatusFields};

constexpr Field kHorizontalPodAutoscalerFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kHorizontalPodAutoscalerSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kHorizontalPodAutoscalerStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kHorizontalPodAutoscaler{.name = "HorizontalPodAutoscaler",
                                        .fields = kHorizontalPodAutoscalerFields};

constexpr Field kScaleSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .number = 1},
};
constexpr Type kScaleSpec{.name = "ScaleSpec", .fields = kScaleSpecFields};

constexpr Field kScaleStatusFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "selector", .number = 2},
};
constexpr Type kScaleStatus{.name = "ScaleStatus", .fields = kScaleStatusFields};

constexpr Field kScaleFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kScaleSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kScaleStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kScale{.name = "Scale", .fields = kScaleFields};

}  // namespace plim::local::apiserver
