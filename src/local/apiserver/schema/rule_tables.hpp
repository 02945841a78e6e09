// The rule tables that several files use, and those of whole kinds.
#pragma once

#include "local/apiserver/schema/rules.hpp"

namespace plim::local::apiserver {

// Parts.
extern const RuleTable kVolumeRules;
extern const RuleTable kContainerRules;
extern const RuleTable kInitContainerRules;
extern const RuleTable kAffinityRules;
extern const RuleTable kPodSpecRules;
extern const RuleTable kPodTemplateRules;
extern const RuleTable kClaimSpecRules;

// Kinds.
extern const RuleTable kPodRules;
extern const RuleTable kPodResizeRules;
extern const RuleTable kPodTemplateKindRules;
extern const RuleTable kDeploymentRules;
extern const RuleTable kReplicaSetRules;
extern const RuleTable kDaemonSetRules;
extern const RuleTable kStatefulSetRules;
extern const RuleTable kReplicationControllerRules;
extern const RuleTable kJobRules;
extern const RuleTable kCronJobRules;
extern const RuleTable kDisruptionBudgetRules;
extern const RuleTable kAutoscalerRules;
extern const RuleTable kServiceRules;
extern const RuleTable kEndpointSliceRules;
extern const RuleTable kConfigMapRules;
extern const RuleTable kSecretRules;
extern const RuleTable kNodeRules;
extern const RuleTable kQuotaRules;
extern const RuleTable kClaimRules;
extern const RuleTable kStorageClassRules;
extern const RuleTable kPriorityClassRules;
extern const RuleTable kLeaseRules;
extern const RuleTable kEventRules;
extern const RuleTable kBindingRules;
extern const RuleTable kRoleRules;
extern const RuleTable kClusterRoleRules;
extern const RuleTable kRoleBindingRules;
extern const RuleTable kClusterRoleBindingRules;

}  // namespace plim::local::apiserver
