// The types that are kinds, or that types of another file hold. The tables of one file are in the
// order in which they need each other.
#pragma once

#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// meta.cpp
extern const Type kObjectMeta;
extern const Type kLabelSelectorRequirement;
extern const Type kLabelSelector;
extern const Type kCondition;
extern const Type kDeleteOptions;
extern const Type kFieldSelectorRequirement;

// core_volume.cpp
extern const Type kObjectFieldSelector;
extern const Type kResourceFieldSelector;
extern const Type kVolume;
extern const Type kPersistentVolumeSpec;
extern const Type kPersistentVolume;

// core_cloud_volume.cpp
extern const Type kGCEPersistentDiskVolumeSource;
extern const Type kAWSElasticBlockStoreVolumeSource;
extern const Type kGitRepoVolumeSource;
extern const Type kISCSIVolumeSource;
extern const Type kGlusterfsVolumeSource;
extern const Type kRBDVolumeSource;
extern const Type kFlexVolumeSource;
extern const Type kCinderVolumeSource;
extern const Type kCephFSVolumeSource;
extern const Type kFlockerVolumeSource;
extern const Type kFCVolumeSource;
extern const Type kAzureFileVolumeSource;
extern const Type kVsphereVirtualDiskVolumeSource;
extern const Type kQuobyteVolumeSource;
extern const Type kAzureDiskVolumeSource;
extern const Type kPhotonPersistentDiskVolumeSource;
extern const Type kPortworxVolumeSource;
extern const Type kScaleIOVolumeSource;
extern const Type kStorageOSVolumeSource;
extern const Type kGlusterfsPersistentVolumeSource;
extern const Type kRBDPersistentVolumeSource;
extern const Type kISCSIPersistentVolumeSource;
extern const Type kCinderPersistentVolumeSource;
extern const Type kCephFSPersistentVolumeSource;
extern const Type kFlexPersistentVolumeSource;
extern const Type kAzureFilePersistentVolumeSource;
extern const Type kScaleIOPersistentVolumeSource;
extern const Type kStorageOSPersistentVolumeSource;

// core_reference.cpp
extern const Type kLocalObjectReference;
extern const Type kTypedLocalObjectReference;
extern const Type kTypedObjectReference;
extern const Type kConfigMapKeySelector;
extern const Type kSecretKeySelector;
extern const Type kNodeSelectorTerm;
extern const Type kNodeSelector;
extern const Type kObjectReference;
extern const Type kSecretReference;
extern const Type kTopologySelectorTerm;

// core_claim.cpp
extern const Type kPersistentVolumeClaimSpec;
extern const Type kPersistentVolumeClaim;

// core_container.cpp
extern const Type kResourceRequirements;
extern const Type kSELinuxOptions;
extern const Type kWindowsSecurityContextOptions;
extern const Type kSeccompProfile;
extern const Type kAppArmorProfile;
extern const Type kContainer;
extern const Type kEphemeralContainer;

// core_pod.cpp
extern const Type kToleration;
extern const Type kPod;
extern const Type kPodTemplateSpec;
extern const Type kPodTemplate;
extern const Type kReplicationController;
extern const Type kBinding;

// core_pod_status.cpp
extern const Type kPodStatus;

// core_node.cpp
extern const Type kNode;

// core_other.cpp
extern const Type kNamespace;
extern const Type kEventSource;
extern const Type kCoreEvent;
extern const Type kConfigMap;
extern const Type kSecret;
extern const Type kServiceAccount;
extern const Type kLimitRange;
extern const Type kResourceQuota;

// core_service.cpp
extern const Type kService;
extern const Type kEndpoints;

// apps.cpp
extern const Type kDeployment;
extern const Type kReplicaSet;
extern const Type kDaemonSet;
extern const Type kStatefulSet;
extern const Type kControllerRevision;

// batch.cpp
extern const Type kJob;
extern const Type kCronJob;

// policy.cpp
extern const Type kPodDisruptionBudget;
extern const Type kEviction;

// small_groups.cpp
extern const Type kLease;
extern const Type kEventsEvent;
extern const Type kEndpointSlice;
extern const Type kPriorityClass;
extern const Type kRuntimeClass;
extern const Type kNodeMetrics;
extern const Type kPodMetrics;

// storage.cpp
extern const Type kStorageClass;
extern const Type kCSINode;
extern const Type kCSIDriver;
extern const Type kCSIStorageCapacity;
extern const Type kVolumeAttachment;

// resource.cpp
extern const Type kDeviceResourceClaim;
extern const Type kResourceClaimTemplate;
extern const Type kResourceSlice;
extern const Type kDeviceClass;

// rbac.cpp
extern const Type kRole;
extern const Type kRoleBinding;
extern const Type kClusterRole;
extern const Type kClusterRoleBinding;

// reviews.cpp
extern const Type kTokenReview;
extern const Type kSelfSubjectReview;
extern const Type kAuthenticationTokenRequest;
extern const Type kSubjectAccessReview;
extern const Type kLocalSubjectAccessReview;
extern const Type kSelfSubjectAccessReview;
extern const Type kSelfSubjectRulesReview;

// admission.cpp
extern const Type kMutatingWebhookConfiguration;
extern const Type kValidatingWebhookConfiguration;
extern const Type kValidatingAdmissionPolicy;
extern const Type kValidatingAdmissionPolicyBinding;

// extensions.cpp
extern const Type kJSONSchemaProps;
extern const Type kCustomResourceDefinition;

// autoscaling.cpp
extern const Type kHorizontalPodAutoscaler;
extern const Type kScale;

// networking.cpp
extern const Type kIngress;
extern const Type kIngressClass;
extern const Type kNetworkPolicy;

}  // namespace plim::local::apiserver
