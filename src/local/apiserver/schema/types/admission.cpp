// The group admissionregistration.k8s.io.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kAdmissionServiceReferenceFields[] = {
    {.name = "namespace", .required_zero = true, .number = 1},
    {.name = "name", .required_zero = true, .number = 2},
    {.name = "path", .keep_zero = true, .number = 3},
    {.name = "port", .scalar = Scalar::int32, .keep_zero = true, .fallback = "443", .number = 4},
};
constexpr Type kAdmissionServiceReference{.name = "ServiceReference",
                                          .fields = kAdmissionServiceReferenceFields};

constexpr Field kAdmissionWebhookClientConfigFields[] = {
    {.name = "url", .keep_zero = true, .number = 3},
    {.name = "service",
     .scalar = Scalar::object,
     .type = &kAdmissionServiceReference,
     .keep_zero = true,
     .number = 1},
    {.name = "caBundle", .scalar = Scalar::bytes, .number = 2},
};
constexpr Type kAdmissionWebhookClientConfig{.name = "WebhookClientConfig",
                                             .fields = kAdmissionWebhookClientConfigFields};

constexpr Field kRuleWithOperationsFields[] = {
    {.name = "operations", .shape = Shape::list, .number = 1},
    {.name = "apiGroups", .shape = Shape::list, .number = 1, .inside = 2},
    {.name = "apiVersions", .shape = Shape::list, .number = 2, .inside = 2},
    {.name = "resources", .shape = Shape::list, .number = 3, .inside = 2},
    {.name = "scope", .keep_zero = true, .fallback = R"("*")", .number = 4, .inside = 2},
};
constexpr Type kRuleWithOperations{.name = "RuleWithOperations",
                                   .fields = kRuleWithOperationsFields};

constexpr Field kMatchConditionFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "expression", .required_zero = true, .number = 2},
};
constexpr Type kMatchCondition{.name = "MatchCondition", .fields = kMatchConditionFields};

constexpr Field kMutatingWebhookFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "clientConfig",
     .scalar = Scalar::object,
     .type = &kAdmissionWebhookClientConfig,
     .required_zero = true,
     .number = 2},
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kRuleWithOperations,
     .number = 3},
    {.name = "failurePolicy", .keep_zero = true, .fallback = R"("Fail")", .number = 4},
    {.name = "matchPolicy", .keep_zero = true, .fallback = R"("Equivalent")", .number = 9},
    {.name = "namespaceSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 5},
    {.name = "objectSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 11},
    {.name = "sideEffects", .keep_zero = true, .number = 6},
    {.name = "timeoutSeconds",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "10",
     .number = 7},
    {.name = "admissionReviewVersions", .shape = Shape::list, .keep_zero = true, .number = 8},
    {.name = "reinvocationPolicy", .keep_zero = true, .fallback = R"("Never")", .number = 10},
    {.name = "matchConditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMatchCondition,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 12},
};
constexpr Type kMutatingWebhook{.name = "MutatingWebhook", .fields = kMutatingWebhookFields};

constexpr Field kMutatingWebhookConfigurationFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "webhooks",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMutatingWebhook,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 2},
};
constexpr Type kMutatingWebhookConfiguration{.name = "MutatingWebhookConfiguration",
                                             .fields = kMutatingWebhookConfigurationFields};

constexpr Field kValidatingWebhookFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "clientConfig",
     .scalar = Scalar::object,
     .type = &kAdmissionWebhookClientConfig,
     .required_zero = true,
     .number = 2},
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kRuleWithOperations,
     .number = 3},
    {.name = "failurePolicy", .keep_zero = true, .fallback = R"("Fail")", .number = 4},
    {.name = "matchPolicy", .keep_zero = true, .fallback = R"("Equivalent")", .number = 9},
    {.name = "namespaceSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 5},
    {.name = "objectSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 10},
    {.name = "sideEffects", .keep_zero = true, .number = 6},
    {.name = "timeoutSeconds",
     .scalar = Scalar::int32,
     .keep_zero = true,
     .fallback = "10",
     .number = 7},
    {.name = "admissionReviewVersions", .shape = Shape::list, .keep_zero = true, .number = 8},
    {.name = "matchConditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMatchCondition,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 11},
};
constexpr Type kValidatingWebhook{.name = "ValidatingWebhook", .fields = kValidatingWebhookFields};

constexpr Field kValidatingWebhookConfigurationFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "webhooks",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kValidatingWebhook,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 2},
};
constexpr Type kValidatingWebhookConfiguration{.name = "ValidatingWebhookConfiguration",
                                               .fields = kValidatingWebhookConfigurationFields};

constexpr Field kParamKindFields[] = {
    {.name = "apiVersion", .number = 1},
    {.name = "kind", .number = 2},
};
constexpr Type kParamKind{.name = "ParamKind", .fields = kParamKindFields};

constexpr Field kNamedRuleWithOperationsFields[] = {
    {.name = "resourceNames", .shape = Shape::list, .number = 1},
    {.name = "operations", .shape = Shape::list, .number = 1, .inside = 2},
    {.name = "apiGroups", .shape = Shape::list, .number = 1, .inside = 0x202},
    {.name = "apiVersions", .shape = Shape::list, .number = 2, .inside = 0x202},
    {.name = "resources", .shape = Shape::list, .number = 3, .inside = 0x202},
    {.name = "scope", .keep_zero = true, .fallback = R"("*")", .number = 4, .inside = 0x202},
};
constexpr Type kNamedRuleWithOperations{.name = "NamedRuleWithOperations",
                                        .fields = kNamedRuleWithOperationsFields};

constexpr Field kMatchResourcesFields[] = {
    {.name = "namespaceSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 1},
    {.name = "objectSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .fallback = "{}",
     .number = 2},
    {.name = "resourceRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNamedRuleWithOperations,
     .number = 3},
    {.name = "excludeResourceRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNamedRuleWithOperations,
     .number = 4},
    {.name = "matchPolicy", .keep_zero = true, .fallback = R"("Equivalent")", .number = 7},
};
constexpr Type kMatchResources{.name = "MatchResources", .fields = kMatchResourcesFields};

constexpr Field kValidationFields[] = {
    {.name = "expression", .required_zero = true, .number = 1},
    {.name = "message", .number = 2},
    {.name = "reason", .keep_zero = true, .number = 3},
    {.name = "messageExpression", .number = 4},
};
constexpr Type kValidation{.name = "Validation", .fields = kValidationFields};

constexpr Field kAuditAnnotationFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "valueExpression", .required_zero = true, .number = 2},
};
constexpr Type kAuditAnnotation{.name = "AuditAnnotation", .fields = kAuditAnnotationFields};

constexpr Field kVariableFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "expression", .required_zero = true, .number = 2},
};
constexpr Type kVariable{.name = "Variable", .fields = kVariableFields};

constexpr Field kValidatingAdmissionPolicySpecFields[] = {
    {.name = "paramKind",
     .scalar = Scalar::object,
     .type = &kParamKind,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "matchConstraints",
     .scalar = Scalar::object,
     .type = &kMatchResources,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "validations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kValidation,
     .number = 3},
    {.name = "failurePolicy", .keep_zero = true, .fallback = R"("Fail")", .number = 4},
    {.name = "auditAnnotations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kAuditAnnotation,
     .number = 5},
    {.name = "matchConditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kMatchCondition,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 6},
    {.name = "variables",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVariable,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 7},
};
constexpr Type kValidatingAdmissionPolicySpec{.name = "ValidatingAdmissionPolicySpec",
                                              .fields = kValidatingAdmissionPolicySpecFields};

constexpr Field kExpressionWarningFields[] = {
    {.name = "fieldRef", .required_zero = true, .number = 2},
    {.name = "warning", .required_zero = true, .number = 3},
};
constexpr Type kExpressionWarning{.name = "ExpressionWarning", .fields = kExpressionWarningFields};

constexpr Field kTypeCheckingFields[] = {
    {.name = "expressionWarnings",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kExpressionWarning,
     .number = 1},
};
constexpr Type kTypeChecking{.name = "TypeChecking", .fields = kTypeCheckingFields};

constexpr Field kValidatingAdmissionPolicyStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 1},
    {.name = "typeChecking",
     .scalar = Scalar::object,
     .type = &kTypeChecking,
     .keep_zero = true,
     .number = 2},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .number = 3},
};
constexpr Type kValidatingAdmissionPolicyStatus{.name = "ValidatingAdmissionPolicyStatus",
                                                .fields = kValidatingAdmissionPolicyStatusFields};

constexpr Field kValidatingAdmissionPolicyFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kValidatingAdmissionPolicySpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kValidatingAdmissionPolicyStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kValidatingAdmissionPolicy{.name = "ValidatingAdmissionPolicy",
                                          .fields = kValidatingAdmissionPolicyFields};

constexpr Field kParamRefFields[] = {
    {.name = "name", .number = 1},
    {.name = "namespace", .number = 2},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "parameterNotFoundAction", .keep_zero = true, .number = 4},
};
constexpr Type kParamRef{.name = "ParamRef", .fields = kParamRefFields};

constexpr Field kValidatingAdmissionPolicyBindingSpecFields[] = {
    {.name = "policyName", .number = 1},
    {.name = "paramRef",
     .scalar = Scalar::object,
     .type = &kParamRef,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "matchResources",
     .scalar = Scalar::object,
     .type = &kMatchResources,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "validationActions", .shape = Shape::list, .list = ListKind::set, .number = 4},
};
constexpr Type kValidatingAdmissionPolicyBindingSpec{
    .name = "ValidatingAdmissionPolicyBindingSpec",
    .fields = kValidatingAdmissionPolicyBindingSpecFields};

constexpr Field kValidatingAdmissionPolicyBindingFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kValidatingAdmissionPolicyBindingSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kValidatingAdmissionPolicyBinding{.name = "ValidatingAdmissionPolicyBinding",
                                                 .fields = kValidatingAdmissionPolicyBindingFields};

}  // namespace plim::local::apiserver
