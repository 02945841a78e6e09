// References and selectors that several kinds of the core group share.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kLocalObjectReferenceFields[] = {
    {.name = "name", .number = 1},
};
constexpr Type kLocalObjectReference{.name = "LocalObjectReference",
                                     .fields = kLocalObjectReferenceFields};

constexpr Field kTypedLocalObjectReferenceFields[] = {
    {.name = "apiGroup", .keep_zero = true, .number = 1},
    {.name = "kind", .required_zero = true, .number = 2},
    {.name = "name", .required_zero = true, .number = 3},
};
constexpr Type kTypedLocalObjectReference{.name = "TypedLocalObjectReference",
                                          .fields = kTypedLocalObjectReferenceFields};

constexpr Field kTypedObjectReferenceFields[] = {
    {.name = "apiGroup", .keep_zero = true, .number = 1},
    {.name = "kind", .required_zero = true, .number = 2},
    {.name = "name", .required_zero = true, .number = 3},
    {.name = "namespace", .keep_zero = true, .number = 4},
};
constexpr Type kTypedObjectReference{.name = "TypedObjectReference",
                                     .fields = kTypedObjectReferenceFields};

constexpr Field kConfigMapKeySelectorFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "key", .required_zero = true, .number = 2},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
};
constexpr Type kConfigMapKeySelector{.name = "ConfigMapKeySelector",
                                     .fields = kConfigMapKeySelectorFields};

constexpr Field kSecretKeySelectorFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "key", .required_zero = true, .number = 2},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
};
constexpr Type kSecretKeySelector{.name = "SecretKeySelector", .fields = kSecretKeySelectorFields};

constexpr Field kNodeSelectorRequirementFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "operator", .required_zero = true, .number = 2},
    {.name = "values", .shape = Shape::list, .number = 3},
};
constexpr Type kNodeSelectorRequirement{.name = "NodeSelectorRequirement",
                                        .fields = kNodeSelectorRequirementFields};

constexpr Field kNodeSelectorTermFields[] = {
    {.name = "matchExpressions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeSelectorRequirement,
     .number = 1},
    {.name = "matchFields",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeSelectorRequirement,
     .number = 2},
};
constexpr Type kNodeSelectorTerm{.name = "NodeSelectorTerm", .fields = kNodeSelectorTermFields};

constexpr Field kNodeSelectorFields[] = {
    {.name = "nodeSelectorTerms",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNodeSelectorTerm,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kNodeSelector{.name = "NodeSelector", .fields = kNodeSelectorFields};

constexpr Field kObjectReferenceFields[] = {
    {.name = "kind", .number = 1},       {.name = "namespace", .number = 2},
    {.name = "name", .number = 3},       {.name = "uid", .number = 4},
    {.name = "apiVersion", .number = 5}, {.name = "resourceVersion", .number = 6},
    {.name = "fieldPath", .number = 7},
};
constexpr Type kObjectReference{.name = "ObjectReference", .fields = kObjectReferenceFields};

constexpr Field kSecretReferenceFields[] = {
    {.name = "name", .number = 1},
    {.name = "namespace", .number = 2},
};
constexpr Type kSecretReference{.name = "SecretReference", .fields = kSecretReferenceFields};

constexpr Field kTopologySelectorLabelRequirementFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "values", .shape = Shape::list, .keep_zero = true, .number = 2},
};
constexpr Type kTopologySelectorLabelRequirement{.name = "TopologySelectorLabelRequirement",
                                                 .fields = kTopologySelectorLabelRequirementFields};

constexpr Field kTopologySelectorTermFields[] = {
    {.name = "matchLabelExpressions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kTopologySelectorLabelRequirement,
     .number = 1},
};
constexpr Type kTopologySelectorTerm{.name = "TopologySelectorTerm",
                                     .fields = kTopologySelectorTermFields};

}  // namespace plim::local::apiserver
