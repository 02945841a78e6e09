#include "local/apiserver/table/object_table.hpp"

#include "base/duration.hpp"
#include "base/rfc3339.hpp"
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

constexpr TableColumn kPlainColumns[] = {
    cells::kName,
    {.name = "Created At", .type = "date", .description = "When it was created"},
};

json::array plain_cells(const json::value& object, WallTime) {
  return {cells::name(object), cells::text(object, "Object.metadata.creationTimestamp")};
}

const TableView kPlainView{.columns = kPlainColumns, .cells = plain_cells};

struct Entry {
  std::string_view group;
  std::string_view kind;
  const TableView* view;
};

constexpr Entry kViews[] = {
    {"", "Pod", &kPodView},
    {"", "Node", &kNodeView},
    {"", "Event", &kEventView},
    {"events.k8s.io", "Event", &kEventView},
    {"", "Namespace", &kNamespaceView},
    {"", "Service", &kServiceView},
    {"", "Endpoints", &kEndpointsView},
    {"", "ConfigMap", &kConfigMapView},
    {"", "Secret", &kSecretView},
    {"", "ServiceAccount", &kServiceAccountView},
    {"", "ReplicationController", &kReplicationControllerView},
    {"", "PersistentVolume", &kPersistentVolumeView},
    {"", "PersistentVolumeClaim", &kPersistentVolumeClaimView},
    {"", "ResourceQuota", &kResourceQuotaView},
    {"", "PodTemplate", &kPodTemplateView},
    {"apps", "Deployment", &kDeploymentView},
    {"apps", "ReplicaSet", &kReplicaSetView},
    {"apps", "DaemonSet", &kDaemonSetView},
    {"apps", "StatefulSet", &kStatefulSetView},
    {"apps", "ControllerRevision", &kControllerRevisionView},
    {"batch", "Job", &kJobView},
    {"batch", "CronJob", &kCronJobView},
    {"policy", "PodDisruptionBudget", &kDisruptionBudgetView},
    {"coordination.k8s.io", "Lease", &kLeaseView},
    {"discovery.k8s.io", "EndpointSlice", &kEndpointSliceView},
    {"scheduling.k8s.io", "PriorityClass", &kPriorityClassView},
    {"node.k8s.io", "RuntimeClass", &kRuntimeClassView},
    {"storage.k8s.io", "StorageClass", &kStorageClassView},
    {"storage.k8s.io", "CSINode", &kCsiNodeView},
    {"storage.k8s.io", "CSIDriver", &kCsiDriverView},
    {"storage.k8s.io", "VolumeAttachment", &kVolumeAttachmentView},
    {"resource.k8s.io", "ResourceClaim", &kResourceClaimView},
    {"resource.k8s.io", "ResourceClaimTemplate", &kNameAndAgeView},
    {"resource.k8s.io", "ResourceSlice", &kResourceSliceView},
    {"resource.k8s.io", "DeviceClass", &kNameAndAgeView},
    {"resource.k8s.io", "DeviceTaintRule", &kDeviceTaintRuleView},
    {"rbac.authorization.k8s.io", "RoleBinding", &kRoleBindingView},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", &kRoleBindingView},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", &kWebhookConfigurationView},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &kWebhookConfigurationView},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", &kAdmissionPolicyView},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding",
     &kAdmissionPolicyBindingView},
    {"autoscaling", "HorizontalPodAutoscaler", &kAutoscalerView},
    {"networking.k8s.io", "Ingress", &kIngressView},
    {"networking.k8s.io", "IngressClass", &kIngressClassView},
    {"networking.k8s.io", "NetworkPolicy", &kNetworkPolicyView},
};

}  // namespace

const TableView& table_view(std::string_view group, std::string_view kind) {
  for (const Entry& entry : kViews)
    if (entry.kind == kind && entry.group == group) return *entry.view;
  return kPlainView;
}

std::string human_age(std::string_view rfc3339, WallTime now) {
  const auto time = parse_rfc3339(rfc3339);
  return time ? human_duration(now - *time) : "<unknown>";
}

}  // namespace plim::local::apiserver
