// What every object carries, and the options of deletions.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kOwnerReferenceFields[] = {
    {.name = "apiVersion", .required_zero = true, .number = 5},
    {.name = "kind", .required_zero = true, .number = 1},
    {.name = "name", .required_zero = true, .number = 3},
    {.name = "uid", .required_zero = true, .number = 4},
    {.name = "controller", .scalar = Scalar::boolean, .keep_zero = true, .number = 6},
    {.name = "blockOwnerDeletion", .scalar = Scalar::boolean, .keep_zero = true, .number = 7},
};
constexpr Type kOwnerReference{.name = "OwnerReference", .fields = kOwnerReferenceFields};

constexpr Field kManagedFieldsEntryFields[] = {
    {.name = "manager", .number = 1},
    {.name = "operation", .number = 2},
    {.name = "apiVersion", .number = 3},
    {.name = "time", .scalar = Scalar::time, .keep_zero = true, .number = 4},
    {.name = "fieldsType", .number = 6},
    {.name = "fieldsV1", .scalar = Scalar::any, .keep_zero = true, .number = 7},
    {.name = "subresource", .number = 8},
};
constexpr Type kManagedFieldsEntry{.name = "ManagedFieldsEntry",
                                   .fields = kManagedFieldsEntryFields};

constexpr Field kObjectMetaFields[] = {
    {.name = "name", .number = 1},
    {.name = "generateName", .number = 2},
    {.name = "namespace", .number = 3},
    {.name = "selfLink", .number = 4},
    {.name = "uid", .number = 5},
    {.name = "resourceVersion", .number = 6},
    {.name = "generation", .scalar = Scalar::int64, .number = 7},
    {.name = "creationTimestamp", .scalar = Scalar::time, .number = 8},
    {.name = "deletionTimestamp", .scalar = Scalar::time, .keep_zero = true, .number = 9},
    {.name = "deletionGracePeriodSeconds",
     .scalar = Scalar::int64,
     .keep_zero = true,
     .number = 10},
    {.name = "labels", .shape = Shape::map, .number = 11},
    {.name = "annotations", .shape = Shape::map, .number = 12},
    {.name = "ownerReferences",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kOwnerReference,
     .list = ListKind::map,
     .list_keys = "uid",
     .merge_key = "uid",
     .merge = true,
     .number = 13},
    {.name = "finalizers",
     .shape = Shape::list,
     .list = ListKind::set,
     .merge = true,
     .number = 14},
    {.name = "managedFields",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kManagedFieldsEntry,
     .number = 17},
};
constexpr Type kObjectMeta{.name = "ObjectMeta", .fields = kObjectMetaFields};

constexpr Field kLabelSelectorRequirementFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "operator", .required_zero = true, .number = 2},
    {.name = "values", .shape = Shape::list, .number = 3},
};
constexpr Type kLabelSelectorRequirement{.name = "LabelSelectorRequirement",
                                         .fields = kLabelSelectorRequirementFields};

constexpr Field kLabelSelectorFields[] = {
    {.name = "matchLabels", .shape = Shape::map, .number = 1},
    {.name = "matchExpressions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLabelSelectorRequirement,
     .number = 2},
};
constexpr Type kLabelSelector{.name = "LabelSelector", .fields = kLabelSelectorFields};

constexpr Field kConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 3},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .required_zero = true, .number = 5},
    {.name = "message", .required_zero = true, .number = 6},
};
constexpr Type kCondition{.name = "Condition", .fields = kConditionFields};

constexpr Field kPreconditionsFields[] = {
    {.name = "uid", .keep_zero = true, .number = 1},
    {.name = "resourceVersion", .keep_zero = true, .number = 2},
};
constexpr Type kPreconditions{.name = "Preconditions", .fields = kPreconditionsFields};

constexpr Field kDeleteOptionsFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "gracePeriodSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 1},
    {.name = "preconditions",
     .scalar = Scalar::object,
     .type = &kPreconditions,
     .keep_zero = true,
     .number = 2},
    {.name = "orphanDependents", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
    {.name = "propagationPolicy", .keep_zero = true, .number = 4},
    {.name = "dryRun", .shape = Shape::list, .number = 5},
    {.name = "ignoreStoreReadErrorWithClusterBreakingPotential",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 6},
};
constexpr Type kDeleteOptions{.name = "DeleteOptions", .fields = kDeleteOptionsFields};

constexpr Field kFieldSelectorRequirementFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "operator", .required_zero = true, .number = 2},
    {.name = "values", .shape = Shape::list, .number = 3},
};
constexpr Type kFieldSelectorRequirement{.name = "FieldSelectorRequirement",
                                         .fields = kFieldSelectorRequirementFields};

}  // namespace plim::local::apiserver
