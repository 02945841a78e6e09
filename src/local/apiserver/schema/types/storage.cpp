// The group storage.k8s.io.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kStorageClassFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "provisioner", .required_zero = true, .number = 2},
    {.name = "parameters", .shape = Shape::map, .number = 3},
    {.name = "reclaimPolicy", .keep_zero = true, .fallback = R"("Delete")", .number = 4},
    {.name = "mountOptions", .shape = Shape::list, .number = 5},
    {.name = "allowVolumeExpansion", .scalar = Scalar::boolean, .keep_zero = true, .number = 6},
    {.name = "volumeBindingMode", .keep_zero = true, .fallback = R"("Immediate")", .number = 7},
    {.name = "allowedTopologies",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kTopologySelectorTerm,
     .number = 8},
};
constexpr Type kStorageClass{.name = "StorageClass", .fields = kStorageClassFields};

constexpr Field kVolumeNodeResourcesFields[] = {
    {.name = "count", .scalar = Scalar::int32, .keep_zero = true, .number = 1},
};
constexpr Type kVolumeNodeResources{.name = "VolumeNodeResources",
                                    .fields = kVolumeNodeResourcesFields};

constexpr Field kCSINodeDriverFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "nodeID", .required_zero = true, .number = 2},
    {.name = "topologyKeys", .shape = Shape::list, .keep_zero = true, .number = 3},
    {.name = "allocatable",
     .scalar = Scalar::object,
     .type = &kVolumeNodeResources,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kCSINodeDriver{.name = "CSINodeDriver", .fields = kCSINodeDriverFields};

constexpr Field kCSINodeSpecFields[] = {
    {.name = "drivers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCSINodeDriver,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .keep_zero = true,
     .number = 1},
};
constexpr Type kCSINodeSpec{.name = "CSINodeSpec", .fields = kCSINodeSpecFields};

constexpr Field kCSINodeFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kCSINodeSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kCSINode{.name = "CSINode", .fields = kCSINodeFields};

constexpr Field kStorageTokenRequestFields[] = {
    {.name = "audience", .required_zero = true, .number = 1},
    {.name = "expirationSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 2},
};
constexpr Type kStorageTokenRequest{.name = "TokenRequest", .fields = kStorageTokenRequestFields};

constexpr Field kCSIDriverSpecFields[] = {
    {.name = "attachRequired",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "true",
     .number = 1},
    {.name = "podInfoOnMount",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 2},
    {.name = "volumeLifecycleModes",
     .shape = Shape::list,
     .list = ListKind::set,
     .fallback = R"(["Persistent"])",
     .number = 3},
    {.name = "storageCapacity",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 4},
    {.name = "fsGroupPolicy",
     .keep_zero = true,
     .fallback = R"("ReadWriteOnceWithFSType")",
     .number = 5},
    {.name = "tokenRequests",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kStorageTokenRequest,
     .number = 6},
    {.name = "requiresRepublish",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 7},
    {.name = "seLinuxMount",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 8},
    {.name = "nodeAllocatableUpdatePeriodSeconds",
     .scalar = Scalar::int64,
     .keep_zero = true,
     .number = 9},
};
constexpr Type kCSIDriverSpec{.name = "CSIDriverSpec", .fields = kCSIDriverSpecFields};

constexpr Field kCSIDriverFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kCSIDriverSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kCSIDriver{.name = "CSIDriver", .fields = kCSIDriverFields};

constexpr Field kCSIStorageCapacityFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "nodeTopology",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "storageClassName", .required_zero = true, .number = 3},
    {.name = "capacity", .scalar = Scalar::quantity, .keep_zero = true, .number = 4},
    {.name = "maximumVolumeSize", .scalar = Scalar::quantity, .keep_zero = true, .number = 5},
};
constexpr Type kCSIStorageCapacity{.name = "CSIStorageCapacity",
                                   .fields = kCSIStorageCapacityFields};

constexpr Field kVolumeAttachmentSourceFields[] = {
    {.name = "persistentVolumeName", .keep_zero = true, .number = 1},
    {.name = "inlineVolumeSpec",
     .scalar = Scalar::object,
     .type = &kPersistentVolumeSpec,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kVolumeAttachmentSource{.name = "VolumeAttachmentSource",
                                       .fields = kVolumeAttachmentSourceFields};

constexpr Field kVolumeAttachmentSpecFields[] = {
    {.name = "attacher", .required_zero = true, .number = 1},
    {.name = "source",
     .scalar = Scalar::object,
     .type = &kVolumeAttachmentSource,
     .required_zero = true,
     .number = 2},
    {.name = "nodeName", .required_zero = true, .number = 3},
};
constexpr Type kVolumeAttachmentSpec{.name = "VolumeAttachmentSpec",
                                     .fields = kVolumeAttachmentSpecFields};

constexpr Field kVolumeErrorFields[] = {
    {.name = "time", .scalar = Scalar::time, .number = 1},
    {.name = "message", .number = 2},
    {.name = "errorCode", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
};
constexpr Type kVolumeError{.name = "VolumeError", .fields = kVolumeErrorFields};

constexpr Field kVolumeAttachmentStatusFields[] = {
    {.name = "attached", .scalar = Scalar::boolean, .required_zero = true, .number = 1},
    {.name = "attachmentMetadata", .shape = Shape::map, .number = 2},
    {.name = "attachError",
     .scalar = Scalar::object,
     .type = &kVolumeError,
     .keep_zero = true,
     .number = 3},
    {.name = "detachError",
     .scalar = Scalar::object,
     .type = &kVolumeError,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kVolumeAttachmentStatus{.name = "VolumeAttachmentStatus",
                                       .fields = kVolumeAttachmentStatusFields};

constexpr Field kVolumeAttachmentFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kVolumeAttachmentSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kVolumeAttachmentStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kVolumeAttachment{.name = "VolumeAttachment", .fields = kVolumeAttachmentFields};

}  // namespace plim::local::apiserver
