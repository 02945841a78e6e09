// The views of all kinds, by the file they are in.
#pragma once

#include "local/apiserver/table/object_table.hpp"

namespace plim::local::apiserver {

// pod_table.cpp, node_table.cpp, event_table.cpp, autoscaler_table.cpp
extern const TableView kPodView, kNodeView, kEventView, kAutoscalerView;
// workload_tables.cpp
extern const TableView kDeploymentView, kReplicaSetView, kReplicationControllerView, kDaemonSetView,
    kStatefulSetView, kControllerRevisionView, kPodTemplateView;
// job_tables.cpp
extern const TableView kJobView, kCronJobView;
// network_tables.cpp
extern const TableView kServiceView, kEndpointsView, kEndpointSliceView, kIngressView,
    kIngressClassView, kNetworkPolicyView;
// storage_tables.cpp
extern const TableView kPersistentVolumeView, kPersistentVolumeClaimView, kStorageClassView,
    kCsiNodeView, kCsiDriverView, kVolumeAttachmentView;
// config_tables.cpp
extern const TableView kConfigMapView, kSecretView, kServiceAccountView, kNamespaceView,
    kResourceQuotaView, kLeaseView, kDisruptionBudgetView, kPriorityClassView, kRuntimeClassView,
    kWebhookConfigurationView, kAdmissionPolicyView, kAdmissionPolicyBindingView, kRoleBindingView;
// resource_tables.cpp
extern const TableView kResourceClaimView, kResourceSliceView, kDeviceTaintRuleView,
    kNameAndAgeView;

}  // namespace plim::local::apiserver
