// Volumes of pods and PersistentVolume.
#include "local/schema/types/types.hpp"

namespace plim::local {

constexpr Field kHostPathVolumeSourceFields[] = {
    {.name = "path", .required_zero = true, .number = 1},
    {.name = "type", .keep_zero = true, .fallback = R"("")", .number = 2},
};
constexpr Type kHostPathVolumeSource{.name = "HostPathVolumeSource", .fields = kHostPathVolumeSourceFields};

constexpr Field kEmptyDirVolumeSourceFields[] = {
    {.name = "medium", .number = 1},
    {.name = "sizeLimit", .scalar = Scalar::quantity, .keep_zero = true, .number = 2},
};
constexpr Type kEmptyDirVolumeSource{.name = "EmptyDirVolumeSource", .fields = kEmptyDirVolumeSourceFields};

constexpr Field kKeyToPathFields[] = {
    {.name = "key", .required_zero = true, .number = 1},
    {.name = "path", .required_zero = true, .number = 2},
    {.name = "mode", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
};
constexpr Type kKeyToPath{.name = "KeyToPath", .fields = kKeyToPathFields};

constexpr Field kSecretVolumeSourceFields[] = {
    {.name = "secretName", .number = 1},
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kKeyToPath, .number = 2},
    {.name = "defaultMode", .scalar = Scalar::int32, .keep_zero = true, .fallback = "420", .number = 3},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kSecretVolumeSource{.name = "SecretVolumeSource", .fields = kSecretVolumeSourceFields};

constexpr Field kNFSVolumeSourceFields[] = {
    {.name = "server", .required_zero = true, .number = 1},
    {.name = "path", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
};
constexpr Type kNFSVolumeSource{.name = "NFSVolumeSource", .fields = kNFSVolumeSourceFields};

constexpr Field kPersistentVolumeClaimVolumeSourceFields[] = {
    {.name = "claimName", .required_zero = true, .number = 1},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 2},
};
constexpr Type kPersistentVolumeClaimVolumeSource{.name = "PersistentVolumeClaimVolumeSource", .fields = kPersistentVolumeClaimVolumeSourceFields};

constexpr Field kObjectFieldSelectorFields[] = {
    {.name = "apiVersion", .fallback = R"("v1")", .number = 1},
    {.name = "fieldPath", .required_zero = true, .number = 2},
};
constexpr Type kObjectFieldSelector{.name = "ObjectFieldSelector", .fields = kObjectFieldSelectorFields};

constexpr Field kResourceFieldSelectorFields[] = {
    {.name = "containerName", .number = 1},
    {.name = "resource", .required_zero = true, .number = 2},
    {.name = "divisor", .scalar = Scalar::quantity, .required_zero = true, .number = 3},
};
constexpr Type kResourceFieldSelector{.name = "ResourceFieldSelector", .fields = kResourceFieldSelectorFields};

constexpr Field kDownwardAPIVolumeFileFields[] = {
    {.name = "path", .required_zero = true, .number = 1},
    {.name = "fieldRef", .scalar = Scalar::object, .type = &kObjectFieldSelector, .atomic = true, .keep_zero = true, .number = 2},
    {.name = "resourceFieldRef", .scalar = Scalar::object, .type = &kResourceFieldSelector, .atomic = true, .keep_zero = true, .number = 3},
    {.name = "mode", .scalar = Scalar::int32, .keep_zero = true, .number = 4},
};
constexpr Type kDownwardAPIVolumeFile{.name = "DownwardAPIVolumeFile", .fields = kDownwardAPIVolumeFileFields};

constexpr Field kDownwardAPIVolumeSourceFields[] = {
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kDownwardAPIVolumeFile, .number = 1},
    {.name = "defaultMode", .scalar = Scalar::int32, .keep_zero = true, .fallback = "420", .number = 2},
};
constexpr Type kDownwardAPIVolumeSource{.name = "DownwardAPIVolumeSource", .fields = kDownwardAPIVolumeSourceFields};

constexpr Field kConfigMapVolumeSourceFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kKeyToPath, .number = 2},
    {.name = "defaultMode", .scalar = Scalar::int32, .keep_zero = true, .fallback = "420", .number = 3},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kConfigMapVolumeSource{.name = "ConfigMapVolumeSource", .fields = kConfigMapVolumeSourceFields};

constexpr Field kSecretProjectionFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kKeyToPath, .number = 2},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kSecretProjection{.name = "SecretProjection", .fields = kSecretProjectionFields};

constexpr Field kDownwardAPIProjectionFields[] = {
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kDownwardAPIVolumeFile, .number = 1},
};
constexpr Type kDownwardAPIProjection{.name = "DownwardAPIProjection", .fields = kDownwardAPIProjectionFields};

constexpr Field kConfigMapProjectionFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "items", .scalar = Scalar::object, .shape = Shape::list, .type = &kKeyToPath, .number = 2},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kConfigMapProjection{.name = "ConfigMapProjection", .fields = kConfigMapProjectionFields};

constexpr Field kServiceAccountTokenProjectionFields[] = {
    {.name = "audience", .number = 1},
    {.name = "expirationSeconds", .scalar = Scalar::int64, .keep_zero = true, .fallback = "3600", .number = 2},
    {.name = "path", .required_zero = true, .number = 3},
};
constexpr Type kServiceAccountTokenProjection{.name = "ServiceAccountTokenProjection", .fields = kServiceAccountTokenProjectionFields};

constexpr Field kClusterTrustBundleProjectionFields[] = {
    {.name = "name", .keep_zero = true, .number = 1},
    {.name = "signerName", .keep_zero = true, .number = 2},
    {.name = "labelSelector", .scalar = Scalar::object, .type = &kLabelSelector, .atomic = true, .keep_zero = true, .number = 3},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "path", .required_zero = true, .number = 4},
};
constexpr Type kClusterTrustBundleProjection{.name = "ClusterTrustBundleProjection", .fields = kClusterTrustBundleProjectionFields};

constexpr Field kPodCertificateProjectionFields[] = {
    {.name = "signerName", .number = 1},           {.name = "keyType", .number = 2}, {.name = "maxExpirationSeconds", .scalar = Scalar::int32, .keep_zero = true, .number = 3},
    {.name = "credentialBundlePath", .number = 4}, {.name = "keyPath", .number = 5}, {.name = "certificateChainPath", .number = 6},
};
constexpr Type kPodCertificateProjection{.name = "PodCertificateProjection", .fields = kPodCertificateProjectionFields};

constexpr Field kVolumeProjectionFields[] = {
    {.name = "secret", .scalar = Scalar::object, .type = &kSecretProjection, .keep_zero = true, .number = 1},
    {.name = "downwardAPI", .scalar = Scalar::object, .type = &kDownwardAPIProjection, .keep_zero = true, .number = 2},
    {.name = "configMap", .scalar = Scalar::object, .type = &kConfigMapProjection, .keep_zero = true, .number = 3},
    {.name = "serviceAccountToken", .scalar = Scalar::object, .type = &kServiceAccountTokenProjection, .keep_zero = true, .number = 4},
    {.name = "clusterTrustBundle", .scalar = Scalar::object, .type = &kClusterTrustBundleProjection, .keep_zero = true, .number = 5},
    {.name = "podCertificate", .scalar = Scalar::object, .type = &kPodCertificateProjection, .keep_zero = true, .number = 6},
};
constexpr Type kVolumeProjection{.name = "VolumeProjection", .fields = kVolumeProjectionFields};

constexpr Field kProjectedVolumeSourceFields[] = {
    {.name = "sources", .scalar = Scalar::object, .shape = Shape::list, .type = &kVolumeProjection, .keep_zero = true, .number = 1},
    {.name = "defaultMode", .scalar = Scalar::int32, .keep_zero = true, .fallback = "420", .number = 2},
};
constexpr Type kProjectedVolumeSource{.name = "ProjectedVolumeSource", .fields = kProjectedVolumeSourceFields};

constexpr Field kCSIVolumeSourceFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "readOnly", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
    {.name = "fsType", .keep_zero = true, .number = 3},
    {.name = "volumeAttributes", .shape = Shape::map, .number = 4},
    {.name = "nodePublishSecretRef", .scalar = Scalar::object, .type = &kLocalObjectReference, .atomic = true, .keep_zero = true, .number = 5},
};
constexpr Type kCSIVolumeSource{.name = "CSIVolumeSource", .fields = kCSIVolumeSourceFields};

constexpr Field kPersistentVolumeClaimTemplateFields[] = {
    {.name = "metadata", .scalar = Scalar::object, .type = &kObjectMeta, .required_zero = true, .number = 1},
    {.name = "spec", .scalar = Scalar::object, .type = &kPersistentVolumeClaimSpec, .required_zero = true, .number = 2},
};
constexpr Type kPersistentVolumeClaimTemplate{.name = "PersistentVolumeClaimTemplate", .fields = kPersistentVolumeClaimTemplateFields};

constexpr Field kEphemeralVolumeSourceFields[] = {
    {.name = "volumeClaimTemplate", .scalar = Scalar::object, .type = &kPersistentVolumeClaimTemplate, .keep_zero = true, .number = 1},
};
constexpr Type kEphemeralVolumeSource{.name = "EphemeralVolumeSource", .fields = kEphemeralVolumeSourceFields};

constexpr Field kImageVolumeSourceFields[] = {
    {.name = "reference", .number = 1},
    {.name = "pullPolicy", .number = 2},
};
constexpr Type kImageVolumeSource{.name = "ImageVolumeSource", .fields = kImageVolumeSourceFields};

constexpr Field kVolumeFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "hostPath", .scalar = Scalar::object, .type = &kHostPathVolumeSource, .keep_zero = true, .number = 1, .inside = 2},
    {.name = "emptyDir", .scalar = Scalar::object, .type = &kEmptyDirVolumeSource, .keep_zero = true, .number = 2, .inside = 2},
    {.name = "gcePersistentDisk", .scalar = Scalar::object, .type = &kGCEPersistentDiskVolumeSource, .keep_zero = true, .number = 3, .inside = 2},
    {.name = "awsElasticBlockStore", .scalar = Scalar::object, .type = &kAWSElasticBlockStoreVolumeSource, .keep_zero = true, .number = 4, .inside = 2},
    {.name = "gitRepo", .scalar = Scalar::object, .type = &kGitRepoVolumeSource, .keep_zero = true, .number = 5, .inside = 2},
    {.name = "secret", .scalar = Scalar::object, .type = &kSecretVolumeSource, .keep_zero = true, .number = 6, .inside = 2},
    {.name = "nfs", .scalar = Scalar::object, .type = &kNFSVolumeSource, .keep_zero = true, .number = 7, .inside = 2},
    {.name = "iscsi", .scalar = Scalar::object, .type = &kISCSIVolumeSource, .keep_zero = true, .number = 8, .inside = 2},
    {.name = "glusterfs", .scalar = Scalar::object, .type = &kGlusterfsVolumeSource, .keep_zero = true, .number = 9, .inside = 2},
    {.name = "persistentVolumeClaim", .scalar = Scalar::object, .type = &kPersistentVolumeClaimVolumeSource, .keep_zero = true, .number = 10, .inside = 2},
    {.name = "rbd", .scalar = Scalar::object, .type = &kRBDVolumeSource, .keep_zero = true, .number = 11, .inside = 2},
    {.name = "flexVolume", .scalar = Scalar::object, .type = &kFlexVolumeSource, .keep_zero = true, .number = 12, .inside = 2},
    {.name = "cinder", .scalar = Scalar::object, .type = &kCinderVolumeSource, .keep_zero = true, .number = 13, .inside = 2},
    {.name = "cephfs", .scalar = Scalar::object, .type = &kCephFSVolumeSource, .keep_zero = true, .number = 14, .inside = 2},
    {.name = "flocker", .scalar = Scalar::object, .type = &kFlockerVolumeSource, .keep_zero = true, .number = 15, .inside = 2},
    {.name = "downwardAPI", .scalar = Scalar::object, .type = &kDownwardAPIVolumeSource, .keep_zero = true, .number = 16, .inside = 2},
    {.name = "fc", .scalar = Scalar::object, .type = &kFCVolumeSource, .keep_zero = true, .number = 17, .inside = 2},
    {.name = "azureFile", .scalar = Scalar::object, .type = &kAzureFileVolumeSource, .keep_zero = true, .number = 18, .inside = 2},
    {.name = "configMap", .scalar = Scalar::object, .type = &kConfigMapVolumeSource, .keep_zero = true, .number = 19, .inside = 2},
    {.name = "vsphereVolume", .scalar = Scalar::object, .type = &kVsphereVirtualDiskVolumeSource, .keep_zero = true, .number = 20, .inside = 2},
    {.name = "quobyte", .scalar = Scalar::object, .type = &kQuobyteVolumeSource, .keep_zero = true, .number = 21, .inside = 2},
    {.name = "azureDisk", .scalar = Scalar::object, .type = &kAzureDiskVolumeSource, .keep_zero = true, .number = 22, .inside = 2},
    {.name = "photonPersistentDisk", .scalar = Scalar::object, .type = &kPhotonPersistentDiskVolumeSource, .keep_zero = true, .number = 23, .inside = 2},
    {.name = "projected", .scalar = Scalar::object, .type = &kProjectedVolumeSource, .keep_zero = true, .number = 26, .inside = 2},
    {.name = "portworxVolume", .scalar = Scalar::object, .type = &kPortworxVolumeSource, .keep_zero = true, .number = 24, .inside = 2},
    {.name = "scaleIO", .scalar = Scalar::object, .type = &kScaleIOVolumeSource, .keep_zero = true, .number = 25, .inside = 2},
    {.name = "storageos", .scalar = Scalar::object, .type = &kStorageOSVolumeSource, .keep_zero = true, .number = 27, .inside = 2},
    {.name = "csi", .scalar = Scalar::object, .type = &kCSIVolumeSource, .keep_zero = true, .number = 28, .inside = 2},
    {.name = "ephemeral", .scalar = Scalar::object, .type = &kEphemeralVolumeSource, .keep_zero = true, .number = 29, .inside = 2},
    {.name = "image", .scalar = Scalar::object, .type = &kImageVolumeSource, .keep_zero = true, .number = 30, .inside = 2},
};
constexpr Type kVolume{.name = "Volume", .fields = kVolumeFields};

constexpr Field kLocalVolumeSourceFields[] = {
    {.name = "path", .required_zero = true, .number = 1},
    {.name = "fsType", .keep_zero = true, .number = 2},
};
constexpr Type kLocalVolumeSource{.name = "LocalVolumeSource", .fields = kLocalVolumeSourceFields};

constexpr Field kCSIPersistentVolumeSourceFields[] = {
    {.name = "driver", .required_zero = true, .number = 1},
    {.name = "volumeHandle", .required_zero = true, .number = 2},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 3},
    {.name = "fsType", .number = 4},
    {.name = "volumeAttributes", .shape = Shape::map, .number = 5},
    {.name = "controllerPublishSecretRef", .scalar = Scalar::object, .type = &kSecretReference, .atomic = true, .keep_zero = true, .number = 6},
    {.name = "nodeStageSecretRef", .scalar = Scalar::object, .type = &kSecretReference, .atomic = true, .keep_zero = true, .number = 7},
    {.name = "nodePublishSecretRef", .scalar = Scalar::object, .type = &kSecretReference, .atomic = true, .keep_zero = true, .number = 8},
    {.name = "controllerExpandSecretRef", .scalar = Scalar::object, .type = &kSecretReference, .atomic = true, .keep_zero = true, .number = 9},
    {.name = "nodeExpandSecretRef", .scalar = Scalar::object, .type = &kSecretReference, .atomic = true, .keep_zero = true, .number = 10},
};
constexpr Type kCSIPersistentVolumeSource{.name = "CSIPersistentVolumeSource", .fields = kCSIPersistentVolumeSourceFields};

constexpr Field kVolumeNodeAffinityFields[] = {
    {.name = "required", .scalar = Scalar::object, .type = &kNodeSelector, .atomic = true, .keep_zero = true, .number = 1},
};
constexpr Type kVolumeNodeAffinity{.name = "VolumeNodeAffinity", .fields = kVolumeNodeAffinityFields};

constexpr Field kPersistentVolumeSpecFields[] = {
    {.name = "capacity", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "gcePersistentDisk", .scalar = Scalar::object, .type = &kGCEPersistentDiskVolumeSource, .keep_zero = true, .number = 1, .inside = 2},
    {.name = "awsElasticBlockStore", .scalar = Scalar::object, .type = &kAWSElasticBlockStoreVolumeSource, .keep_zero = true, .number = 2, .inside = 2},
    {.name = "hostPath", .scalar = Scalar::object, .type = &kHostPathVolumeSource, .keep_zero = true, .number = 3, .inside = 2},
    {.name = "glusterfs", .scalar = Scalar::object, .type = &kGlusterfsPersistentVolumeSource, .keep_zero = true, .number = 4, .inside = 2},
    {.name = "nfs", .scalar = Scalar::object, .type = &kNFSVolumeSource, .keep_zero = true, .number = 5, .inside = 2},
    {.name = "rbd", .scalar = Scalar::object, .type = &kRBDPersistentVolumeSource, .keep_zero = true, .number = 6, .inside = 2},
    {.name = "iscsi", .scalar = Scalar::object, .type = &kISCSIPersistentVolumeSource, .keep_zero = true, .number = 7, .inside = 2},
    {.name = "cinder", .scalar = Scalar::object, .type = &kCinderPersistentVolumeSource, .keep_zero = true, .number = 8, .inside = 2},
    {.name = "cephfs", .scalar = Scalar::object, .type = &kCephFSPersistentVolumeSource, .keep_zero = true, .number = 9, .inside = 2},
    {.name = "fc", .scalar = Scalar::object, .type = &kFCVolumeSource, .keep_zero = true, .number = 10, .inside = 2},
    {.name = "flocker", .scalar = Scalar::object, .type = &kFlockerVolumeSource, .keep_zero = true, .number = 11, .inside = 2},
    {.name = "flexVolume", .scalar = Scalar::object, .type = &kFlexPersistentVolumeSource, .keep_zero = true, .number = 12, .inside = 2},
    {.name = "azureFile", .scalar = Scalar::object, .type = &kAzureFilePersistentVolumeSource, .keep_zero = true, .number = 13, .inside = 2},
    {.name = "vsphereVolume", .scalar = Scalar::object, .type = &kVsphereVirtualDiskVolumeSource, .keep_zero = true, .number = 14, .inside = 2},
    {.name = "quobyte", .scalar = Scalar::object, .type = &kQuobyteVolumeSource, .keep_zero = true, .number = 15, .inside = 2},
    {.name = "azureDisk", .scalar = Scalar::object, .type = &kAzureDiskVolumeSource, .keep_zero = true, .number = 16, .inside = 2},
    {.name = "photonPersistentDisk", .scalar = Scalar::object, .type = &kPhotonPersistentDiskVolumeSource, .keep_zero = true, .number = 17, .inside = 2},
    {.name = "portworxVolume", .scalar = Scalar::object, .type = &kPortworxVolumeSource, .keep_zero = true, .number = 18, .inside = 2},
    {.name = "scaleIO", .scalar = Scalar::object, .type = &kScaleIOPersistentVolumeSource, .keep_zero = true, .number = 19, .inside = 2},
    {.name = "local", .scalar = Scalar::object, .type = &kLocalVolumeSource, .keep_zero = true, .number = 20, .inside = 2},
    {.name = "storageos", .scalar = Scalar::object, .type = &kStorageOSPersistentVolumeSource, .keep_zero = true, .number = 21, .inside = 2},
    {.name = "csi", .scalar = Scalar::object, .type = &kCSIPersistentVolumeSource, .keep_zero = true, .number = 22, .inside = 2},
    {.name = "accessModes", .shape = Shape::list, .number = 3},
    {.name = "claimRef", .scalar = Scalar::object, .type = &kObjectReference, .keep_zero = true, .number = 4},
    {.name = "persistentVolumeReclaimPolicy", .fallback = R"("Retain")", .number = 5},
    {.name = "storageClassName", .number = 6},
    {.name = "mountOptions", .shape = Shape::list, .number = 7},
    {.name = "volumeMode", .keep_zero = true, .fallback = R"("Filesystem")", .number = 8},
    {.name = "nodeAffinity", .scalar = Scalar::object, .type = &kVolumeNodeAffinity, .keep_zero = true, .number = 9},
    {.name = "volumeAttributesClassName", .keep_zero = true, .number = 10},
};
constexpr Type kPersistentVolumeSpec{.name = "PersistentVolumeSpec", .fields = kPersistentVolumeSpecFields};

constexpr Field kPersistentVolumeStatusFields[] = {
    {.name = "phase", .fallback = R"("Pending")", .number = 1},
    {.name = "message", .number = 2},
    {.name = "reason", .number = 3},
    {.name = "lastPhaseTransitionTime", .scalar = Scalar::time, .keep_zero = true, .number = 4},
};
constexpr Type kPersistentVolumeStatus{.name = "PersistentVolumeStatus", .fields = kPersistentVolumeStatusFields};

constexpr Field kPersistentVolumeFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata", .scalar = Scalar::object, .type = &kObjectMeta, .required_zero = true, .number = 1},
    {.name = "spec", .scalar = Scalar::object, .type = &kPersistentVolumeSpec, .required_zero = true, .number = 2},
    {.name = "status", .scalar = Scalar::object, .type = &kPersistentVolumeStatus, .required_zero = true, .number = 3},
};
constexpr Type kPersistentVolume{.name = "PersistentVolume", .fields = kPersistentVolumeFields};

}  // namespace plim::local
