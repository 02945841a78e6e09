// Kinds with settings, limits and permissions.
#include <map>

#include <fmt/format.h>

#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kConfigMapColumns[] = {
    kName, {.name = "Data", .description = "How many entries it has"}, kAge};

json::array config_map_cells(const json::value& object, WallTime now) {
  return {name(object), size(object, "ConfigMap.data") + size(object, "ConfigMap.binaryData"),
          age(object, now)};
}

constexpr TableColumn kSecretColumns[] = {
    kName,
    {.name = "Type", .description = "What it is for"},
    {.name = "Data", .description = "How many entries it has"},
    kAge,
};

json::array secret_cells(const json::value& object, WallTime now) {
  return {name(object), text(object, "Secret.type"), size(object, "Secret.data"), age(object, now)};
}

constexpr TableColumn kServiceAccountColumns[] = {kName, kAge};

json::array service_account_cells(const json::value& object, WallTime now) {
  return {name(object), age(object, now)};
}

constexpr TableColumn kNamespaceColumns[] = {
    kName, {.name = "Status", .description = "Active or Terminating"}, kAge};

json::array namespace_cells(const json::value& object, WallTime now) {
  return {name(object), text(object, "Namespace.status.phase"), age(object, now)};
}

constexpr TableColumn kResourceQuotaColumns[] = {
    kName,
    {.name = "Request", .description = "Requests used, of those allowed"},
    {.name = "Limit", .description = "Limits used, of those allowed"},
    kAge,
};

json::array resource_quota_cells(const json::value& object, WallTime now) {
  std::map<std::string, std::string> used;
  for (const json::key_value_pair& hard : members(object, "ResourceQuota.status.hard")) {
    const std::string resource(hard.key());
    used[resource] =
        fmt::format("{}: {}/{}", resource, scalar(object, "ResourceQuota.status.used", resource),
                    scalar(object, "ResourceQuota.status.hard", resource));
  }
  std::vector<std::string> requests;
  std::vector<std::string> limits;
  for (const auto& [resource, cell] : used)
    (resource.starts_with("limits") ? limits : requests).push_back(cell);
  return {name(object), join(requests, ", "), join(limits, ", "), age(object, now)};
}

constexpr TableColumn kLeaseColumns[] = {
    kName, {.name = "Holder", .description = "Who holds it"}, kAge};

json::array lease_cells(const json::value& object, WallTime now) {
  return {name(object), text(object, "Lease.spec.holderIdentity"), age(object, now)};
}

constexpr TableColumn kDisruptionBudgetColumns[] = {
    kName,
    {.name = "Min Available", .description = "Pods that must stay"},
    {.name = "Max Unavailable", .description = "Pods that may be missing"},
    {.name = "Allowed Disruptions",
     .type = "integer",
     .description = "Pods that may be evicted now"},
    kAge,
};

json::array disruption_budget_cells(const json::value& object, WallTime now) {
  const std::string minimum = scalar(object, "PodDisruptionBudget.spec.minAvailable");
  const std::string maximum = scalar(object, "PodDisruptionBudget.spec.maxUnavailable");
  return {name(object), minimum.empty() ? "N/A" : minimum, maximum.empty() ? "N/A" : maximum,
          number(object, "PodDisruptionBudget.status.disruptionsAllowed"), age(object, now)};
}

constexpr TableColumn kPriorityClassColumns[] = {
    kName,
    {.name = "Value", .type = "integer", .description = "Priority of its pods"},
    {.name = "Global-Default",
     .type = "boolean",
     .description = "Whether pods without a class get it"},
    kAge,
    {.name = "PreemptionPolicy", .description = "Whether its pods preempt others"},
};

json::array priority_class_cells(const json::value& object, WallTime now) {
  return {name(object), number(object, "PriorityClass.value"),
          kube::bool_at(object, "PriorityClass.globalDefault"), age(object, now),
          text(object, "PriorityClass.preemptionPolicy")};
}

constexpr TableColumn kRuntimeClassColumns[] = {
    kName, {.name = "Handler", .description = "What runs its pods"}, kAge};

json::array runtime_class_cells(const json::value& object, WallTime now) {
  return {name(object), text(object, "RuntimeClass.handler"), age(object, now)};
}

constexpr TableColumn kWebhookColumns[] = {
    kName,
    {.name = "Webhooks", .type = "integer", .description = "How many webhooks it has"},
    kAge,
};

json::array webhook_configuration_cells(const json::value& object, WallTime now) {
  return {name(object), size(object, "MutatingWebhookConfiguration.webhooks"), age(object, now)};
}

constexpr TableColumn kAdmissionPolicyColumns[] = {
    kName,
    {.name = "Validations", .type = "integer", .description = "How many rules it has"},
    {.name = "ParamKind", .description = "Kind of its parameters"},
    kAge,
};

json::array admission_policy_cells(const json::value& object, WallTime now) {
  std::string parameters = "<unset>";
  if (kube::find(object, "ValidatingAdmissionPolicy.spec.paramKind"))
    parameters = text(object, "ValidatingAdmissionPolicy.spec.paramKind.apiVersion") + "/" +
                 text(object, "ValidatingAdmissionPolicy.spec.paramKind.kind");
  return {name(object), size(object, "ValidatingAdmissionPolicy.spec.validations"), parameters,
          age(object, now)};
}

constexpr TableColumn kAdmissionPolicyBindingColumns[] = {
    kName,
    {.name = "PolicyName", .description = "Policy that it binds"},
    {.name = "ParamRef", .description = "Parameters of the policy"},
    kAge,
};

json::array admission_policy_binding_cells(const json::value& object, WallTime now) {
  std::string parameters = "<unset>";
  if (kube::find(object, "ValidatingAdmissionPolicyBinding.spec.paramRef")) {
    parameters = text(object, "ValidatingAdmissionPolicyBinding.spec.paramRef.name", "*");
    const std::string ns = text(object, "ValidatingAdmissionPolicyBinding.spec.paramRef.namespace");
    if (!ns.empty()) parameters = ns + "/" + parameters;
  }
  return {name(object), text(object, "ValidatingAdmissionPolicyBinding.spec.policyName"),
          parameters, age(object, now)};
}

constexpr TableColumn kRoleBindingColumns[] = {
    kName,
    {.name = "Role", .description = "Role it gives"},
    kAge,
    {.name = "Users", .description = "Users who get it", .priority = 1},
    {.name = "Groups", .description = "Groups who get it", .priority = 1},
    {.name = "ServiceAccounts", .description = "Service accounts that get it", .priority = 1},
};

json::array role_binding_cells(const json::value& object, WallTime now) {
  std::map<std::string_view, std::vector<std::string>> subjects;
  for (const json::value& subject : list(object, "RoleBinding.subjects")) {
    const std::string_view kind = kube::text_at(subject, "Subject.kind");
    std::string who = text(subject, "Subject.name");
    if (kind == "ServiceAccount") who = text(subject, "Subject.namespace") + "/" + who;
    subjects[kind].push_back(std::move(who));
  }
  return {name(object),
          text(object, "RoleBinding.roleRef.kind") + "/" + text(object, "RoleBinding.roleRef.name"),
          age(object, now),
          join(subjects["User"], ", "),
          join(subjects["Group"], ", "),
          join(subjects["ServiceAccount"], ", ")};
}

}  // namespace

const TableView kConfigMapView{.columns = kConfigMapColumns, .cells = config_map_cells};
const TableView kSecretView{.columns = kSecretColumns, .cells = secret_cells};
const TableView kServiceAccountView{.columns = kServiceAccountColumns,
                                    .cells = service_account_cells};
const TableView kNamespaceView{.columns = kNamespaceColumns, .cells = namespace_cells};
const TableView kResourceQuotaView{.columns = kResourceQuotaColumns, .cells = resource_quota_cells};
const TableView kLeaseView{.columns = kLeaseColumns, .cells = lease_cells};
const TableView kDisruptionBudgetView{.columns = kDisruptionBudgetColumns,
                                      .cells = disruption_budget_cells};
const TableView kPriorityClassView{.columns = kPriorityClassColumns, .cells = priority_class_cells};
const TableView kRuntimeClassView{.columns = kRuntimeClassColumns, .cells = runtime_class_cells};
const TableView kWebhookConfigurationView{.columns = kWebhookColumns,
                                          .cells = webhook_configuration_cells};
const TableView kAdmissionPolicyView{.columns = kAdmissionPolicyColumns,
                                     .cells = admission_policy_cells};
const TableView kAdmissionPolicyBindingView{.columns = kAdmissionPolicyBindingColumns,
                                            .cells = admission_policy_binding_cells};
const TableView kRoleBindingView{.columns = kRoleBindingColumns, .cells = role_binding_cells};

}  // namespace plim::local::apiserver
