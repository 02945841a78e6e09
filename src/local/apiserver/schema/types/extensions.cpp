// The group apiextensions.k8s.io.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kCustomResourceDefinitionNamesFields[] = {
    {.name = "plural", .required_zero = true, .number = 1},
    {.name = "singular", .number = 2},
    {.name = "shortNames", .shape = Shape::list, .number = 3},
    {.name = "kind", .required_zero = true, .number = 4},
    {.name = "listKind", .number = 5},
    {.name = "categories", .shape = Shape::list, .number = 6},
};
constexpr Type kCustomResourceDefinitionNames{.name = "CustomResourceDefinitionNames",
                                              .fields = kCustomResourceDefinitionNamesFields};

constexpr Field kExternalDocumentationFields[] = {
    {.name = "description", .number = 1},
    {.name = "url", .number = 2},
};
constexpr Type kExternalDocumentation{.name = "ExternalDocumentation",
                                      .fields = kExternalDocumentationFields};

constexpr Field kValidationRuleFields[] = {
    {.name = "rule", .required_zero = true, .number = 1},
    {.name = "message", .number = 2},
    {.name = "messageExpression", .number = 3},
    {.name = "reason", .keep_zero = true, .number = 4},
    {.name = "fieldPath", .number = 5},
    {.name = "optionalOldSelf", .scalar = Scalar::boolean, .keep_zero = true, .number = 6},
};
constexpr Type kValidationRule{.name = "ValidationRule", .fields = kValidationRuleFields};

constexpr Field kJSONSchemaPropsFields[] = {
    {.name = "id", .number = 1},
    {.name = "$schema", .number = 2},
    {.name = "$ref", .keep_zero = true, .number = 3},
    {.name = "description", .number = 4},
    {.name = "type", .number = 5},
    {.name = "format", .number = 6},
    {.name = "title", .number = 7},
    {.name = "default", .scalar = Scalar::any, .keep_zero = true, .number = 8},
    {.name = "maximum", .scalar = Scalar::number, .keep_zero = true, .number = 9},
    {.name = "exclusiveMaximum", .scalar = Scalar::boolean, .number = 10},
    {.name = "minimum", .scalar = Scalar::number, .keep_zero = true, .number = 11},
    {.name = "exclusiveMinimum", .scalar = Scalar::boolean, .number = 12},
    {.name = "maxLength", .scalar = Scalar::int64, .keep_zero = true, .number = 13},
    {.name = "minLength", .scalar = Scalar::int64, .keep_zero = true, .number = 14},
    {.name = "pattern", .number = 15},
    {.name = "maxItems", .scalar = Scalar::int64, .keep_zero = true, .number = 16},
    {.name = "minItems", .scalar = Scalar::int64, .keep_zero = true, .number = 17},
    {.name = "uniqueItems", .scalar = Scalar::boolean, .number = 18},
    {.name = "multipleOf", .scalar = Scalar::number, .keep_zero = true, .number = 19},
    {.name = "enum", .scalar = Scalar::any, .shape = Shape::list, .number = 20},
    {.name = "maxProperties", .scalar = Scalar::int64, .keep_zero = true, .number = 21},
    {.name = "minProperties", .scalar = Scalar::int64, .keep_zero = true, .number = 22},
    {.name = "required", .shape = Shape::list, .number = 23},
    {.name = "items", .scalar = Scalar::any, .keep_zero = true, .number = 24},
    {.name = "allOf",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kJSONSchemaProps,
     .number = 25},
    {.name = "oneOf",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kJSONSchemaProps,
     .number = 26},
    {.name = "anyOf",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kJSONSchemaProps,
     .number = 27},
    {.name = "not",
     .scalar = Scalar::object,
     .type = &kJSONSchemaProps,
     .keep_zero = true,
     .number = 28},
    {.name = "properties",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kJSONSchemaProps,
     .number = 29},
    {.name = "additionalProperties", .scalar = Scalar::any, .keep_zero = true, .number = 30},
    {.name = "patternProperties",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kJSONSchemaProps,
     .number = 31},
    {.name = "dependencies", .scalar = Scalar::any, .shape = Shape::map, .number = 32},
    {.name = "additionalItems", .scalar = Scalar::any, .keep_zero = true, .number = 33},
    {.name = "definitions",
     .scalar = Scalar::object,
     .shape = Shape::map,
     .type = &kJSONSchemaProps,
     .number = 34},
    {.name = "externalDocs",
     .scalar = Scalar::object,
     .type = &kExternalDocumentation,
     .keep_zero = true,
     .number = 35},
    {.name = "example", .scalar = Scalar::any, .keep_zero = true, .number = 36},
    {.name = "nullable", .scalar = Scalar::boolean, .number = 37},
    {.name = "x-kubernetes-preserve-unknown-fields",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 38},
    {.name = "x-kubernetes-embedded-resource", .scalar = Scalar::boolean, .number = 39},
    {.name = "x-kubernetes-int-or-string", .scalar = Scalar::boolean, .number = 40},
    {.name = "x-kubernetes-list-map-keys", .shape = Shape::list, .number = 41},
    {.name = "x-kubernetes-list-type", .keep_zero = true, .number = 42},
    {.name = "x-kubernetes-map-type", .keep_zero = true, .number = 43},
    {.name = "x-kubernetes-validations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kValidationRule,
     .list = ListKind::map,
     .list_keys = "rule",
     .merge_key = "rule",
     .merge = true,
     .number = 44},
};
constexpr Type kJSONSchemaProps{.name = "JSONSchemaProps", .fields = kJSONSchemaPropsFields};

constexpr Field kCustomResourceValidationFields[] = {
    {.name = "openAPIV3Schema",
     .scalar = Scalar::object,
     .type = &kJSONSchemaProps,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kCustomResourceValidation{.name = "CustomResourceValidation",
                                         .fields = kCustomResourceValidationFields};

constexpr Type kCustomResourceSubresourceStatus{.name = "CustomResourceSubresourceStatus",
                                                .fields = {}};

constexpr Field kCustomResourceSubresourceScaleFields[] = {
    {.name = "specReplicasPath", .required_zero = true, .number = 1},
    {.name = "statusReplicasPath", .required_zero = true, .number = 2},
    {.name = "labelSelectorPath", .keep_zero = true, .number = 3},
};
constexpr Type kCustomResourceSubresourceScale{.name = "CustomResourceSubresourceScale",
                                               .fields = kCustomResourceSubresourceScaleFields};

constexpr Field kCustomResourceSubresourcesFields[] = {
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kCustomResourceSubresourceStatus,
     .keep_zero = true,
     .number = 1},
    {.name = "scale",
     .scalar = Scalar::object,
     .type = &kCustomResourceSubresourceScale,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kCustomResourceSubresources{.name = "CustomResourceSubresources",
                                           .fields = kCustomResourceSubresourcesFields};

constexpr Field kCustomResourceColumnDefinitionFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "type", .required_zero = true, .number = 2},
    {.name = "format", .number = 3},
    {.name = "description", .number = 4},
    {.name = "priority", .scalar = Scalar::int32, .number = 5},
    {.name = "jsonPath", .required_zero = true, .number = 6},
};
constexpr Type kCustomResourceColumnDefinition{.name = "CustomResourceColumnDefinition",
                                               .fields = kCustomResourceColumnDefinitionFields};

constexpr Field kSelectableFieldFields[] = {
    {.name = "jsonPath", .required_zero = true, .number = 1},
};
constexpr Type kSelectableField{.name = "SelectableField", .fields = kSelectableFieldFields};

constexpr Field kCustomResourceDefinitionVersionFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "served", .scalar = Scalar::boolean, .required_zero = true, .number = 2},
    {.name = "storage", .scalar = Scalar::boolean, .required_zero = true, .number = 3},
    {.name = "deprecated", .scalar = Scalar::boolean, .number = 7},
    {.name = "deprecationWarning", .keep_zero = true, .number = 8},
    {.name = "schema",
     .scalar = Scalar::object,
     .type = &kCustomResourceValidation,
     .keep_zero = true,
     .number = 4},
    {.name = "subresources",
     .scalar = Scalar::object,
     .type = &kCustomResourceSubresources,
     .keep_zero = true,
     .number = 5},
    {.name = "additionalPrinterColumns",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCustomResourceColumnDefinition,
     .number = 6},
    {.name = "selectableFields",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kSelectableField,
     .number = 9},
};
constexpr Type kCustomResourceDefinitionVersion{.name = "CustomResourceDefinitionVersion",
                                                .fields = kCustomResourceDefinitionVersionFields};

constexpr Field kExtensionServiceReferenceFields[] = {
    {.name = "namespace", .required_zero = true, .number = 1},
    {.name = "name", .required_zero = true, .number = 2},
    {.name = "path", .keep_zero = true, .number = 3},
    {.name = "port", .scalar = Scalar::int32, .keep_zero = true, .fallback = "443", .number = 4},
};
constexpr Type kExtensionServiceReference{.name = "ServiceReference",
                                          .fields = kExtensionServiceReferenceFields};

constexpr Field kExtensionWebhookClientConfigFields[] = {
    {.name = "url", .keep_zero = true, .number = 3},
    {.name = "service",
     .scalar = Scalar::object,
     .type = &kExtensionServiceReference,
     .keep_zero = true,
     .number = 1},
    {.name = "caBundle", .scalar = Scalar::bytes, .number = 2},
};
constexpr Type kExtensionWebhookClientConfig{.name = "WebhookClientConfig",
                                             .fields = kExtensionWebhookClientConfigFields};

constexpr Field kWebhookConversionFields[] = {
    {.name = "clientConfig",
     .scalar = Scalar::object,
     .type = &kExtensionWebhookClientConfig,
     .keep_zero = true,
     .number = 2},
    {.name = "conversionReviewVersions", .shape = Shape::list, .keep_zero = true, .number = 3},
};
constexpr Type kWebhookConversion{.name = "WebhookConversion", .fields = kWebhookConversionFields};

constexpr Field kCustomResourceConversionFields[] = {
    {.name = "strategy", .required_zero = true, .number = 1},
    {.name = "webhook",
     .scalar = Scalar::object,
     .type = &kWebhookConversion,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kCustomResourceConversion{.name = "CustomResourceConversion",
                                         .fields = kCustomResourceConversionFields};

constexpr Field kCustomResourceDefinitionSpecFields[] = {
    {.name = "group", .required_zero = true, .number = 1},
    {.name = "names",
     .scalar = Scalar::object,
     .type = &kCustomResourceDefinitionNames,
     .required_zero = true,
     .number = 3},
    {.name = "scope", .required_zero = true, .number = 4},
    {.name = "versions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCustomResourceDefinitionVersion,
     .keep_zero = true,
     .number = 7},
    {.name = "conversion",
     .scalar = Scalar::object,
     .type = &kCustomResourceConversion,
     .keep_zero = true,
     .fallback = R"({"strategy":"None"})",
     .number = 9},
    {.name = "preserveUnknownFields", .scalar = Scalar::boolean, .number = 10},
};
constexpr Type kCustomResourceDefinitionSpec{.name = "CustomResourceDefinitionSpec",
                                             .fields = kCustomResourceDefinitionSpecFields};

constexpr Field kCustomResourceDefinitionConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kCustomResourceDefinitionCondition{
    .name = "CustomResourceDefinitionCondition",
    .fields = kCustomResourceDefinitionConditionFields};

constexpr Field kCustomResourceDefinitionStatusFields[] = {
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCustomResourceDefinitionCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .keep_zero = true,
     .number = 1},
    {.name = "acceptedNames",
     .scalar = Scalar::object,
     .type = &kCustomResourceDefinitionNames,
     .required_zero = true,
     .number = 2},
    {.name = "storedVersions", .shape = Shape::list, .keep_zero = true, .number = 3},
};
constexpr Type kCustomResourceDefinitionStatus{.name = "CustomResourceDefinitionStatus",
                                               .fields = kCustomResourceDefinitionStatusFields};

constexpr Field kCustomResourceDefinitionFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kCustomResourceDefinitionSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kCustomResourceDefinitionStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kCustomResourceDefinition{.name = "CustomResourceDefinition",
                                         .fields = kCustomResourceDefinitionFields};

}  // namespace plim::local::apiserver
