// Volumes of storage systems and clouds.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kGCEPersistentDiskVolumeSourceFields[] = {
    {.name = "pdName", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "partition", .scalar = Scalar::int32, .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
};
constexpr Type kGCEPersistentDiskVolumeSource{.name = "GCEPersistentDiskVolumeSource",
                                              .fields = kGCEPersistentDiskVolumeSourceFields};

constexpr Field kAWSElasticBlockStoreVolumeSourceFields[] = {
    {.name = "volumeID", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "partition", .scalar = Scalar::int32, .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
};
constexpr Type kAWSElasticBlockStoreVolumeSource{.name = "AWSElasticBlockStoreVolumeSource",
                                                 .fields = kAWSElasticBlockStoreVolumeSourceFields};

constexpr Field kGitRepoVolumeSourceFields[] = {
    {.name = "repository", .required_zero = true, .number = 1},
    {.name = "revision", .number = 2},
    {.name = "directory", .number = 3},
};
constexpr Type kGitRepoVolumeSource{.name = "GitRepoVolumeSource",
                                    .fields = kGitRepoVolumeSourceFields};

constexpr Field kISCSIVolumeSourceFields[] = {
    {.name = "targetPortal", .required_zero = true, .number = 1},
    {.name = "iqn", .required_zero = true, .number = 2},
    {.name = "lun", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "iscsiInterface", .fallback = R"("default")", .number = 4},
    {.name = "fsType", .number = 5},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 6},
    {.name = "portals", .shape = Shape::list, .number = 7},
    {.name = "chapAuthDiscovery", .scalar = Scalar::boolean, .number = 8},
    {.name = "chapAuthSession", .scalar = Scalar::boolean, .number = 11},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 10},
    {.name = "initiatorName", .keep_zero = true, .number = 12},
};
constexpr Type kISCSIVolumeSource{.name = "ISCSIVolumeSource", .fields = kISCSIVolumeSourceFields};

constexpr Field kGlusterfsVolumeSourceFields[] = {
    {.name = "endpoints", .required_zero = true, .number = 1},
    {.name = "path", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
};
constexpr Type kGlusterfsVolumeSource{.name = "GlusterfsVolumeSource",
                                      .fields = kGlusterfsVolumeSourceFields};

constexpr Field kRBDVolumeSourceFields[] = {
    {.name = "monitors", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "image", .required_zero = true, .number = 2},
    {.name = "fsType", .number = 3},
    {.name = "pool", .fallback = R"("rbd")", .number = 4},
    {.name = "user", .fallback = R"("admin")", .number = 5},
    {.name = "keyring", .fallback = R"("/etc/ceph/keyring")", .number = 6},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 7},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 8},
};
constexpr Type kRBDVolumeSource{.name = "RBDVolumeSource", .fields = kRBDVolumeSourceFields};

constexpr Field kFlexVolumeSourceFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
    {.name = "options", .shape = Shape::map, .number = 5},
};
constexpr Type kFlexVolumeSource{.name = "FlexVolumeSource", .fields = kFlexVolumeSourceFields};

constexpr Field kCinderVolumeSourceFields[] = {
    {.name = "volumeID", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kCinderVolumeSource{.name = "CinderVolumeSource",
                                   .fields = kCinderVolumeSourceFields};

constexpr Field kCephFSVolumeSourceFields[] = {
    {.name = "monitors", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "path", .number = 2},
    {.name = "user", .number = 3},
    {.name = "secretFile", .number = 4},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 5},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 6},
};
constexpr Type kCephFSVolumeSource{.name = "CephFSVolumeSource",
                                   .fields = kCephFSVolumeSourceFields};

constexpr Field kFlockerVolumeSourceFields[] = {
    {.name = "datasetName", .number = 1},
    {.name = "datasetUUID", .number = 2},
};
constexpr Type kFlockerVolumeSource{.name = "FlockerVolumeSource",
                                    .fields = kFlockerVolumeSourceFields};

constexpr Field kFCVolumeSourceFields[] = {
    {.name = "targetWWNs", .shape = Shape::list, .number = 1},
    {.name = "lun", .scalar = Scalar::int32, .keep_zero = true, .number = 2},
    {.name = "fsType", .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
    {.name = "wwids", .shape = Shape::list, .number = 5},
};
constexpr Type kFCVolumeSource{.name = "FCVolumeSource", .fields = kFCVolumeSourceFields};

constexpr Field kAzureFileVolumeSourceFields[] = {
    {.name = "secretName", .required_zero = true, .number = 1},
    {.name = "shareName", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
};
constexpr Type kAzureFileVolumeSource{.name = "AzureFileVolumeSource",
                                      .fields = kAzureFileVolumeSourceFields};

constexpr Field kVsphereVirtualDiskVolumeSourceFields[] = {
    {.name = "volumePath", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "storagePolicyName", .number = 3},
    {.name = "storagePolicyID", .number = 4},
};
constexpr Type kVsphereVirtualDiskVolumeSource{.name = "VsphereVirtualDiskVolumeSource",
                                               .fields = kVsphereVirtualDiskVolumeSourceFields};

constexpr Field kQuobyteVolumeSourceFields[] = {
    {.name = "registry", .required_zero = true, .number = 1},
    {.name = "volume", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "user", .number = 4},
    {.name = "group", .number = 5},
    {.name = "tenant", .number = 6},
};
constexpr Type kQuobyteVolumeSource{.name = "QuobyteVolumeSource",
                                    .fields = kQuobyteVolumeSourceFields};

constexpr Field kAzureDiskVolumeSourceFields[] = {
    {.name = "diskName", .required_zero = true, .number = 1},
    {.name = "diskURI", .required_zero = true, .number = 2},
    {.name = "cachingMode", .keep_zero = true, .fallback = R"("ReadWrite")", .number = 3},
    {.name = "fsType", .keep_zero = true, .fallback = R"("ext4")", .number = 4},
    {.name = "readOnly",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .fallback = "false",
     .number = 5},
    {.name = "kind", .keep_zero = true, .fallback = R"("Shared")", .number = 6},
};
constexpr Type kAzureDiskVolumeSource{.name = "AzureDiskVolumeSource",
                                      .fields = kAzureDiskVolumeSourceFields};

constexpr Field kPhotonPersistentDiskVolumeSourceFields[] = {
    {.name = "pdID", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
};
constexpr Type kPhotonPersistentDiskVolumeSource{.name = "PhotonPersistentDiskVolumeSource",
                                                 .fields = kPhotonPersistentDiskVolumeSourceFields};

constexpr Field kPortworxVolumeSourceFields[] = {
    {.name = "volumeID", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
};
constexpr Type kPortworxVolumeSource{.name = "PortworxVolumeSource",
                                     .fields = kPortworxVolumeSourceFields};

constexpr Field kScaleIOVolumeSourceFields[] = {
    {.name = "gateway", .required_zero = true, .number = 1},
    {.name = "system", .required_zero = true, .number = 2},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "sslEnabled", .scalar = Scalar::boolean, .number = 4},
    {.name = "protectionDomain", .number = 5},
    {.name = "storagePool", .number = 6},
    {.name = "storageMode", .fallback = R"("ThinProvisioned")", .number = 7},
    {.name = "volumeName", .number = 8},
    {.name = "fsType", .fallback = R"("xfs")", .number = 9},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 10},
};
constexpr Type kScaleIOVolumeSource{.name = "ScaleIOVolumeSource",
                                    .fields = kScaleIOVolumeSourceFields};

constexpr Field kStorageOSVolumeSourceFields[] = {
    {.name = "volumeName", .number = 1},
    {.name = "volumeNamespace", .number = 2},
    {.name = "fsType", .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kLocalObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kStorageOSVolumeSource{.name = "StorageOSVolumeSource",
                                      .fields = kStorageOSVolumeSourceFields};

constexpr Field kGlusterfsPersistentVolumeSourceFields[] = {
    {.name = "endpoints", .required_zero = true, .number = 1},
    {.name = "path", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "endpointsNamespace", .keep_zero = true, .number = 4},
};
constexpr Type kGlusterfsPersistentVolumeSource{.name = "GlusterfsPersistentVolumeSource",
                                                .fields = kGlusterfsPersistentVolumeSourceFields};

constexpr Field kRBDPersistentVolumeSourceFields[] = {
    {.name = "monitors", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "image", .required_zero = true, .number = 2},
    {.name = "fsType", .number = 3},
    {.name = "pool", .fallback = R"("rbd")", .number = 4},
    {.name = "user", .fallback = R"("admin")", .number = 5},
    {.name = "keyring", .fallback = R"("/etc/ceph/keyring")", .number = 6},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 7},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 8},
};
constexpr Type kRBDPersistentVolumeSource{.name = "RBDPersistentVolumeSource",
                                          .fields = kRBDPersistentVolumeSourceFields};

constexpr Field kISCSIPersistentVolumeSourceFields[] = {
    {.name = "targetPortal", .required_zero = true, .number = 1},
    {.name = "iqn", .required_zero = true, .number = 2},
    {.name = "lun", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "iscsiInterface", .fallback = R"("default")", .number = 4},
    {.name = "fsType", .number = 5},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 6},
    {.name = "portals", .shape = Shape::list, .number = 7},
    {.name = "chapAuthDiscovery", .scalar = Scalar::boolean, .number = 8},
    {.name = "chapAuthSession", .scalar = Scalar::boolean, .number = 11},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 10},
    {.name = "initiatorName", .keep_zero = true, .number = 12},
};
constexpr Type kISCSIPersistentVolumeSource{.name = "ISCSIPersistentVolumeSource",
                                            .fields = kISCSIPersistentVolumeSourceFields};

constexpr Field kCinderPersistentVolumeSourceFields[] = {
    {.name = "volumeID", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kCinderPersistentVolumeSource{.name = "CinderPersistentVolumeSource",
                                             .fields = kCinderPersistentVolumeSourceFields};

constexpr Field kCephFSPersistentVolumeSourceFields[] = {
    {.name = "monitors", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "path", .number = 2},
    {.name = "user", .number = 3},
    {.name = "secretFile", .number = 4},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 5},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 6},
};
constexpr Type kCephFSPersistentVolumeSource{.name = "CephFSPersistentVolumeSource",
                                             .fields = kCephFSPersistentVolumeSourceFields};

constexpr Field kFlexPersistentVolumeSourceFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "fsType", .number = 2},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
    {.name = "options", .shape = Shape::map, .number = 5},
};
constexpr Type kFlexPersistentVolumeSource{.name = "FlexPersistentVolumeSource",
                                           .fields = kFlexPersistentVolumeSourceFields};

constexpr Field kAzureFilePersistentVolumeSourceFields[] = {
    {.name = "secretName", .required_zero = true, .number = 1},
    {.name = "shareName", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "secretNamespace", .keep_zero = true, .number = 4},
};
constexpr Type kAzureFilePersistentVolumeSource{.name = "AzureFilePersistentVolumeSource",
                                                .fields = kAzureFilePersistentVolumeSourceFields};

constexpr Field kScaleIOPersistentVolumeSourceFields[] = {
    {.name = "gateway", .required_zero = true, .number = 1},
    {.name = "system", .required_zero = true, .number = 2},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretReference,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "sslEnabled", .scalar = Scalar::boolean, .number = 4},
    {.name = "protectionDomain", .number = 5},
    {.name = "storagePool", .number = 6},
    {.name = "storageMode", .fallback = R"("ThinProvisioned")", .number = 7},
    {.name = "volumeName", .number = 8},
    {.name = "fsType", .fallback = R"("xfs")", .number = 9},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 10},
};
constexpr Type kScaleIOPersistentVolumeSource{.name = "ScaleIOPersistentVolumeSource",
                                              .fields = kScaleIOPersistentVolumeSourceFields};

constexpr Field kStorageOSPersistentVolumeSourceFields[] = {
    {.name = "volumeName", .number = 1},
    {.name = "volumeNamespace", .number = 2},
    {.name = "fsType", .number = 3},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 4},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kStorageOSPersistentVolumeSource{.name = "StorageOSPersistentVolumeSource",
                                                .fields = kStorageOSPersistentVolumeSourceFields};

}  // namespace plim::local::apiserver
