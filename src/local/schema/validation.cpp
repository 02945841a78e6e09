#include "local/schema/validation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "local/schema/checks.hpp"

namespace plim::local {
namespace {

struct KindEntry {
  std::string_view group;
  std::string_view kind;
  KindCheck check;
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr std::array kChecks{
    KindEntry{"", "Pod", check_pod},
    KindEntry{"", "Service", check_service},
    KindEntry{"", "ConfigMap", check_config_map},
    KindEntry{"", "Secret", check_secret},
    KindEntry{"", "Binding", check_binding},
    KindEntry{"", "ReplicationController", check_replication_controller},
    KindEntry{"apps", "Deployment", check_deployment},
    KindEntry{"apps", "ReplicaSet", check_replica_set},
    KindEntry{"apps", "DaemonSet", check_daemon_set},
    KindEntry{"apps", "StatefulSet", check_stateful_set},
    KindEntry{"batch", "Job", check_job},
    KindEntry{"batch", "CronJob", check_cron_job},
    KindEntry{"scheduling.k8s.io", "PriorityClass", check_priority_class},
    KindEntry{kRbac, "RoleBinding", check_role_binding},
    KindEntry{kRbac, "ClusterRoleBinding", check_role_binding},
};

}  // namespace

std::vector<Cause> validate(std::string_view group, std::string_view kind,
                            const json::value& object, const json::value* before) {
  Causes causes;
  check_metadata(group, kind, object, before, causes);
  for (const KindEntry& entry : kChecks)
    if (entry.group == group && entry.kind == kind) entry.check(object, before, causes);
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

}  // namespace plim::local
