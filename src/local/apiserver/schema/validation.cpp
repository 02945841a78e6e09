#include "local/apiserver/schema/validation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

struct KindEntry {
  std::string_view group;
  std::string_view kind;
  const RuleTable* table;
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr std::array kTables{
    KindEntry{"", "Pod", &kPodRules},
    KindEntry{"", "PodTemplate", &kPodTemplateKindRules},
    KindEntry{"", "ReplicationController", &kReplicationControllerRules},
    KindEntry{"", "Service", &kServiceRules},
    KindEntry{"", "ConfigMap", &kConfigMapRules},
    KindEntry{"", "Secret", &kSecretRules},
    KindEntry{"", "Node", &kNodeRules},
    KindEntry{"", "Event", &kEventRules},
    KindEntry{"", "Binding", &kBindingRules},
    KindEntry{"", "PersistentVolumeClaim", &kClaimRules},
    KindEntry{"", "ResourceQuota", &kQuotaRules},
    KindEntry{"apps", "Deployment", &kDeploymentRules},
    KindEntry{"apps", "ReplicaSet", &kReplicaSetRules},
    KindEntry{"apps", "DaemonSet", &kDaemonSetRules},
    KindEntry{"apps", "StatefulSet", &kStatefulSetRules},
    KindEntry{"batch", "Job", &kJobRules},
    KindEntry{"batch", "CronJob", &kCronJobRules},
    KindEntry{"policy", "PodDisruptionBudget", &kDisruptionBudgetRules},
    KindEntry{"autoscaling", "HorizontalPodAutoscaler", &kAutoscalerRules},
    KindEntry{"coordination.k8s.io", "Lease", &kLeaseRules},
    KindEntry{"discovery.k8s.io", "EndpointSlice", &kEndpointSliceRules},
    KindEntry{"scheduling.k8s.io", "PriorityClass", &kPriorityClassRules},
    KindEntry{"storage.k8s.io", "StorageClass", &kStorageClassRules},
    KindEntry{kRbac, "Role", &kRoleRules},
    KindEntry{kRbac, "ClusterRole", &kClusterRoleRules},
    KindEntry{kRbac, "RoleBinding", &kRoleBindingRules},
    KindEntry{kRbac, "ClusterRoleBinding", &kClusterRoleBindingRules},
};

}  // namespace

std::vector<Cause> validate(std::string_view group, std::string_view kind,
                            const json::value& object, const json::value* before) {
  Causes causes;
  check_metadata(group, kind, object, before, causes);
  for (const KindEntry& entry : kTables)
    if (entry.group == group && entry.kind == kind)
      check_rules(entry.table->rules, Place(object), before, causes);
  return causes.take();
}

std::vector<Cause> validate_resize(const json::value& pod, const json::value& before) {
  Causes causes;
  check_metadata("", "Pod", pod, &before, causes);
  check_rules(kPodResizeRules.rules, Place(pod), &before, causes);
  return causes.take();
}

std::string invalid_message(std::string_view group, std::string_view kind, std::string_view name,
                            const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    std::string text = fmt::format("{}: {}", cause.field, cause.message);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string what =
      fmt::format("{}{}{} \"{}\" is invalid", kind, group.empty() ? "" : ".", group, name);
  if (texts.empty()) return what;
  if (texts.size() == 1) return fmt::format("{}: {}", what, texts.front());
  return fmt::format("{}: [{}]", what, fmt::join(texts, ", "));
}

}  // namespace plim::local::apiserver
