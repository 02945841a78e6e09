// PersistentVolumeClaim.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kVolumeResourceRequirementsFields[] = {
    {.name = "limits", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "requests", .scalar = Scalar::quantity, .shape = Shape::map, .number = 2},
};
constexpr Type kVolumeResourceRequirements{.name = "VolumeResourceRequirements",
                                           .fields = kVolumeResourceRequirementsFields};

constexpr Field kPersistentVolumeClaimSpecFields[] = {
    {.name = "accessModes", .shape = Shape::list, .number = 1},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "resources",
     .scalar = Scalar::object,
     .type = &kVolumeResourceRequirements,
     .required_zero = true,
     .number = 2},
    {.name = "volumeName", .number = 3},
    {.name = "storageClassName", .keep_zero = true, .number = 5},
    {.name = "volumeMode", .keep_zero = true, .fallback = R"("Filesystem")", .number = 6},
    {.name = "dataSource",
     .scalar = Scalar::object,
     .type = &kTypedLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 7},
    {.name = "dataSourceRef",
     .scalar = Scalar::object,
     .type = &kTypedObjectReference,
     .keep_zero = true,
     .number = 8},
    {.name = "volumeAttributesClassName", .keep_zero = true, .number = 9},
};
constexpr Type kPersistentVolumeClaimSpec{.name = "PersistentVolumeClaimSpec",
                                          .fields = kPersistentVolumeClaimSpecFields};

constexpr Field kPersistentVolumeClaimConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastProbeTime", .scalar = Scalar::time, .number = 3},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 4},
    {.name = "reason", .number = 5},
    {.name = "message", .number = 6},
};
constexpr Type kPersistentVolumeClaimCondition{.name = "PersistentVolumeClaimCondition",
                                               .fields = kPersistentVolumeClaimConditionFields};

constexpr Field kModifyVolumeStatusFields[] = {
    {.name = "targetVolumeAttributesClassName", .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
};
constexpr Type kModifyVolumeStatus{.name = "ModifyVolumeStatus",
                                   .fields = kModifyVolumeStatusFields};

constexpr Field kPersistentVolumeClaimStatusFields[] = {
    {.name = "phase", .fallback = R"("Pending")", .number = 1},
    {.name = "accessModes", .shape = Shape::list, .number = 2},
    {.name = "capacity", .scalar = Scalar::quantity, .shape = Shape::map, .number = 3},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPersistentVolumeClaimCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 4},
    {.name = "allocatedResources", .scalar = Scalar::quantity, .shape = Shape::map, .number = 5},
    {.name = "allocatedResourceStatuses", .shape = Shape::map, .number = 7},
    {.name = "currentVolumeAttributesClassName", .keep_zero = true, .number = 8},
    {.name = "modifyVolumeStatus",
     .scalar = Scalar::object,
     .type = &kModifyVolumeStatus,
     .keep_zero = true,
     .number = 9},
};
constexpr Type kPersistentVolumeClaimStatus{.name = "PersistentVolumeClaimStatus",
                                            .fields = kPersistentVolumeClaimStatusFields};

constexpr Field kPersistentVolumeClaimFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kPersistentVolumeClaimSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kPersistentVolumeClaimStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kPersistentVolumeClaim{.name = "PersistentVolumeClaim",
                                      .fields = kPersistentVolumeClaimFields};

}  // namespace plim::local::apiserver
