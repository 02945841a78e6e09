#include "local/apiserver/schema/schema.hpp"

#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {
namespace {

struct KindType {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  const Type* type;
};

constexpr KindType kKindTypes[] = {
    {"", "v1", "Pod", &kPod},
    {"", "v1", "PodTemplate", &kPodTemplate},
    {"", "v1", "ReplicationController", &kReplicationController},
    {"", "v1", "Node", &kNode},
    {"", "v1", "Namespace", &kNamespace},
    {"", "v1", "Service", &kService},
    {"", "v1", "Endpoints", &kEndpoints},
    {"", "v1", "Event", &kCoreEvent},
    {"", "v1", "ConfigMap", &kConfigMap},
    {"", "v1", "Secret", &kSecret},
    {"", "v1", "ServiceAccount", &kServiceAccount},
    {"", "v1", "PersistentVolume", &kPersistentVolume},
    {"", "v1", "PersistentVolumeClaim", &kPersistentVolumeClaim},
    {"", "v1", "LimitRange", &kLimitRange},
    {"", "v1", "ResourceQuota", &kResourceQuota},
    {"", "v1", "Binding", &kBinding},
    {"apps", "v1", "Deployment", &kDeployment},
    {"apps", "v1", "ReplicaSet", &kReplicaSet},
    {"apps", "v1", "DaemonSet", &kDaemonSet},
    {"apps", "v1", "StatefulSet", &kStatefulSet},
    {"apps", "v1", "ControllerRevision", &kControllerRevision},
    {"batch", "v1", "Job", &kJob},
    {"batch", "v1", "CronJob", &kCronJob},
    {"policy", "v1", "PodDisruptionBudget", &kPodDisruptionBudget},
    {"policy", "v1", "Eviction", &kEviction},
    {"coordination.k8s.io", "v1", "Lease", &kLease},
    {"events.k8s.io", "v1", "Event", &kEventsEvent},
    {"discovery.k8s.io", "v1", "EndpointSlice", &kEndpointSlice},
    {"scheduling.k8s.io", "v1", "PriorityClass", &kPriorityClass},
    {"node.k8s.io", "v1", "RuntimeClass", &kRuntimeClass},
    {"storage.k8s.io", "v1", "StorageClass", &kStorageClass},
    {"storage.k8s.io", "v1", "CSINode", &kCSINode},
    {"storage.k8s.io", "v1", "CSIDriver", &kCSIDriver},
    {"storage.k8s.io", "v1", "CSIStorageCapacity", &kCSIStorageCapacity},
    {"storage.k8s.io", "v1", "VolumeAttachment", &kVolumeAttachment},
    {"resource.k8s.io", "v1", "ResourceClaim", &kDeviceResourceClaim},
    {"resource.k8s.io", "v1", "ResourceClaimTemplate", &kResourceClaimTemplate},
    {"resource.k8s.io", "v1", "ResourceSlice", &kResourceSlice},
    {"resource.k8s.io", "v1", "DeviceClass", &kDeviceClass},
    {"rbac.authorization.k8s.io", "v1", "Role", &kRole},
    {"rbac.authorization.k8s.io", "v1", "RoleBinding", &kRoleBinding},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole", &kClusterRole},
    {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", &kClusterRoleBinding},
    {"authentication.k8s.io", "v1", "TokenReview", &kTokenReview},
    {"authentication.k8s.io", "v1", "SelfSubjectReview", &kSelfSubjectReview},
    {"authentication.k8s.io", "v1", "TokenRequest", &kAuthenticationTokenRequest},
    {"authorization.k8s.io", "v1", "SubjectAccessReview", &kSubjectAccessReview},
    {"authorization.k8s.io", "v1", "LocalSubjectAccessReview", &kLocalSubjectAccessReview},
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", &kSelfSubjectAccessReview},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", &kSelfSubjectRulesReview},
    {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
     &kMutatingWebhookConfiguration},
    {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
     &kValidatingWebhookConfiguration},
    {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
     &kValidatingAdmissionPolicy},
    {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
     &kValidatingAdmissionPolicyBinding},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", &kCustomResourceDefinition},
    {"autoscaling", "v2", "HorizontalPodAutoscaler", &kHorizontalPodAutoscaler},
    {"autoscaling", "v1", "Scale", &kScale},
    {"networking.k8s.io", "v1", "Ingress", &kIngress},
    {"networking.k8s.io", "v1", "IngressClass", &kIngressClass},
    {"networking.k8s.io", "v1", "NetworkPolicy", &kNetworkPolicy},
    {"metrics.k8s.io", "v1beta1", "NodeMetrics", &kNodeMetrics},
    {"metrics.k8s.io", "v1beta1", "PodMetrics", &kPodMetrics},
};

}  // namespace

const Field* Type::find(std::string_view field) const {
  for (const Field& candidate : fields)
    if (candidate.name == field) return &candidate;
  return nullptr;
}

const Type* find_type(std::string_view group, std::string_view version, std::string_view kind) {
  if (kind == "DeleteOptions") return &kDeleteOptions;
  for (const KindType& candidate : kKindTypes)
    if (candidate.kind == kind && candidate.group == group && candidate.version == version)
      return candidate.type;
  return nullptr;
}

const Type& object_meta_type() {
  return kObjectMeta;
}

}  // namespace plim::local::apiserver
