// The other kinds of the core group.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kNamespaceSpecFields[] = {
    {.name = "finalizers", .shape = Shape::list, .number = 1},
};
constexpr Type kNamespaceSpec{.name = "NamespaceSpec", .fields = kNamespaceSpecFields};

constexpr Field kNamespaceConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .number = 5},
    {.name = "message", .number = 6},
};
constexpr Type kNamespaceCondition{.name = "NamespaceCondition",
                                   .fields = kNamespaceConditionFields};

constexpr Field kNamespaceStatusFields[] = {
    {.name = "phase", .fallback = R"("Active")", .number = 1},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNamespaceCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 2},
};
constexpr Type kNamespaceStatus{.name = "NamespaceStatus", .fields = kNamespaceStatusFields};

constexpr Field kNamespaceFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kNamespaceSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kNamespaceStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kNamespace{.name = "Namespace", .fields = kNamespaceFields};

constexpr Field kEventSourceFields[] = {
    {.name = "component", .number = 1},
    {.name = "host", .number = 2},
};
constexpr Type kEventSource{.name = "EventSource", .fields = kEventSourceFields};

constexpr Field kCoreEventSeriesFields[] = {
    {.name = "count", .scalar = Scalar::int32, .number = 1},
    {.name = "lastObservedTime", .scalar = Scalar::micro_time, .number = 2},
};
constexpr Type kCoreEventSeries{.name = "EventSeries", .fields = kCoreEventSeriesFields};

constexpr Field kCoreEventFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "involvedObject",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .required_zero = true,
     .number = 2},
    {.name = "reason", .number = 3},
    {.name = "message", .number = 4},
    {.name = "source",
     .scalar = Scalar::object,
     .type = &kEventSource,
     .required_zero = true,
     .number = 5},
    {.name = "firstTimestamp", .scalar = Scalar::time, .number = 6},
    {.name = "lastTimestamp", .scalar = Scalar::time, .number = 7},
    {.name = "count", .scalar = Scalar::int32, .number = 8},
    {.name = "type", .number = 9},
    {.name = "eventTime", .scalar = Scalar::micro_time, .number = 10},
    {.name = "series",
     .scalar = Scalar::object,
     .type = &kCoreEventSeries,
     .keep_zero = true,
     .number = 11},
    {.name = "action", .number = 12},
    {.name = "related",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 13},
    {.name = "reportingComponent", .required_zero = true, .number = 14},
    {.name = "reportingInstance", .required_zero = true, .number = 15},
};
constexpr Type kCoreEvent{.name = "Event", .fields = kCoreEventFields};

constexpr Field kConfigMapFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "immutable", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
    {.name = "data", .shape = Shape::map, .number = 2},
    {.name = "binaryData", .scalar = Scalar::bytes, .shape = Shape::map, .number = 3},
};
constexpr Type kConfigMap{.name = "ConfigMap", .fields = kConfigMapFields};

constexpr Field kSecretFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "immutable", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "data", .scalar = Scalar::bytes, .shape = Shape::map, .number = 2},
    {.name = "stringData", .shape = Shape::map, .number = 4},
    {.name = "type", .fallback = R"("Opaque")", .number = 3},
};
constexpr Type kSecret{.name = "Secret", .fields = kSecretFields};

constexpr Field kServiceAccountFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "secrets",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kObjectReference,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 2},
    {.name = "imagePullSecrets",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLocalObjectReference,
     .number = 3},
    {.name = "automountServiceAccountToken",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kServiceAccount{.name = "ServiceAccount", .fields = kServiceAccountFields};

constexpr Field kLimitRangeItemFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "max", .scalar = Scalar::quantity, .shape = Shape::map, .number = 2},
    {.name = "min", .scalar = Scalar::quantity, .shape = Shape::map, .number = 3},
    {.name = "default", .scalar = Scalar::quantity, .shape = Shape::map, .number = 4},
    {.name = "defaultRequest", .scalar = Scalar::quantity, .shape = Shape::map, .number = 5},
    {.name = "maxLimitRequestRatio", .scalar = Scalar::quantity, .shape = Shape::map, .number = 6},
};
constexpr Type kLimitRangeItem{.name = "LimitRangeItem", .fields = kLimitRangeItemFields};

constexpr Field kLimitRangeSpecFields[] = {
    {.name = "limits",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLimitRangeItem,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kLimitRangeSpec{.name = "LimitRangeSpec", .fields = kLimitRangeSpecFields};

constexpr Field kLimitRangeFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kLimitRangeSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kLimitRange{.name = "LimitRange", .fields = kLimitRangeFields};

constexpr Field kScopedResourceSelectorRequirementFields[] = {
    {.name = "scopeName", .required_zero = true, .number = 1},
    {.name = "operator", .required_zero = true, .number = 2},
    {.name = "values", .shape = Shape::list, .number = 3},
};
constexpr Type kScopedResourceSelectorRequirement{
    .name = "ScopedResourceSelectorRequirement",
    .fields = kScopedResourceSelectorRequirementFields};

constexpr Field kScopeSelectorFields[] = {
    {.name = "matchExpressions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kScopedResourceSelectorRequirement,
     .number = 1},
};
constexpr Type kScopeSelector{.name = "ScopeSelector", .fields = kScopeSelectorFields};

constexpr Field kResourceQuotaSpecFields[] = {
    {.name = "hard", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "scopes", .shape = Shape::list, .number = 2},
    {.name = "scopeSelector",
     .scalar = Scalar::object,
     .type = &kScopeSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kResourceQuotaSpec{.name = "ResourceQuotaSpec", .fields = kResourceQuotaSpecFields};

constexpr Field kResourceQuotaStatusFields[] = {
    {.name = "hard", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "used", .scalar = Scalar::quantity, .shape = Shape::map, .number = 2},
};
constexpr Type kResourceQuotaStatus{.name = "ResourceQuotaStatus",
                                    .fields = kResourceQuotaStatusFields};

constexpr Field kResourceQuotaFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kResourceQuotaSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kResourceQuotaStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kResourceQuota{.name = "ResourceQuota", .fields = kResourceQuotaFields};

}  // namespace plim::local::apiserver
