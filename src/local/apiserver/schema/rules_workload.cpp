// Kinds that keep pods running.
#include <string>

#include <fmt/format.h>

#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

// --- selectors and templates

bool is_empty_selector(const Place& selector) {
  return selector.map("matchLabels").empty() && selector.list("matchExpressions").empty();
}

template <const char* kKind>
void check_selector(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const Place selector = spec.in("selector");
  const Place labels = spec.in("template.metadata.labels");
  if (selector.value().is_null())  // it selects nothing
    return causes.invalid(labels.path(), labels.value(), kDoesNotMatch);
  if (is_empty_selector(selector))
    return causes.invalid(selector.path(), selector.value(),
                          fmt::format("empty selector is invalid for {}", kKind));
  check_selector_matches(selector, labels, causes);
}

template <const char* kKind>
void check_restarts_always(const Place& spec, const json::value* /*before*/, Causes& causes) {
  std::string_view policy = spec.text("template.spec.restartPolicy");
  if (policy != "Always")
    causes.unsupported(spec.path("template.spec.restartPolicy"), json::value(policy), "Always");
  if (spec.has("template.spec.activeDeadlineSeconds"))
    causes.forbidden(spec.path("template.spec.activeDeadlineSeconds"),
                     fmt::format("activeDeadlineSeconds in {} is not Supported", kKind));
}

constexpr char kDeploymentWord[] = "deployment";
constexpr char kDaemonSetWord[] = "daemonset";
constexpr char kStatefulSetWord[] = "statefulset";
constexpr char kReplicaSetName[] = "ReplicaSet";
constexpr char kDaemonSetName[] = "DaemonSet";
constexpr char kStatefulSetName[] = "StatefulSet";
constexpr char kControllerName[] = "ReplicationController";

// Strategies as upstream prints them, with the names of its Go structs.
json::object shown_strategy(const Place& strategy) {
  return {{"Type", strategy.text("type")}, {"RollingUpdate", strategy.member("rollingUpdate")}};
}

// --- deployments and replica sets

bool is_no_share(const json::value& value) {
  return value == json::value(0) || value == json::value("0%") || value == json::value("0");
}

void check_strategy(const Place& strategy, const json::value* /*before*/, Causes& causes) {
  std::string_view type = strategy.text("type");
  if (type == "Recreate") {
    if (strategy.has("rollingUpdate"))
      causes.forbidden(strategy.path("rollingUpdate"),
                       "may not be specified when strategy `type` is 'Recreate'");
  } else if (type != "RollingUpdate") {
    causes.unsupported(strategy.path(), shown_strategy(strategy), "Recreate,RollingUpdate");
  }
}

void check_rolling_update(const Place& rolling, const json::value* /*before*/, Causes& causes) {
  if (is_no_share(rolling.member("maxUnavailable")) && is_no_share(rolling.member("maxSurge")))
    causes.invalid(rolling.path("maxUnavailable"), rolling.member("maxUnavailable"),
                   "may not be 0 when `maxSurge` is 0");
}

constexpr Rule kRollingUpdate[] = {
    share("maxUnavailable"),
    not_negative("maxSurge"),
    custom(check_rolling_update),
};

constexpr Rule kStrategy[] = {
    custom(check_strategy),
    inside("rollingUpdate", kRollingUpdate),
};

void check_deadline(const Place& spec, const json::value* /*before*/, Causes& causes) {
  auto deadline = spec.number("progressDeadlineSeconds");
  if (deadline && *deadline <= spec.number("minReadySeconds").value_or(0))
    causes.invalid(spec.path("progressDeadlineSeconds"), *deadline,
                   "must be greater than minReadySeconds");
}

constexpr Rule kDeploymentSpec[] = {
    not_negative("replicas"),
    required("selector"),
    custom(check_selector<kDeploymentWord>),
    inside("template", kPodTemplateRules),
    custom(check_restarts_always<kReplicaSetName>),
    inside("strategy", kStrategy),
    not_negative("minReadySeconds"),
    not_negative("revisionHistoryLimit"),
    not_negative("progressDeadlineSeconds"),
    custom(check_deadline),
    fixed("selector"),
};

constexpr Rule kReplicaSetSpec[] = {
    not_negative("replicas"),
    not_negative("minReadySeconds"),
    required("selector"),
    custom(check_selector<kDeploymentWord>),
    inside("template", kPodTemplateRules),
    custom(check_restarts_always<kReplicaSetName>),
    fixed("selector"),
};

constexpr Rule kDeploymentObject[] = {inside("spec", kDeploymentSpec)};
constexpr Rule kReplicaSetObject[] = {inside("spec", kReplicaSetSpec)};

// --- daemon sets

void check_daemon_strategy(const Place& strategy, const json::value* /*before*/, Causes& causes) {
  std::string_view type = strategy.text("type");
  if (type != "RollingUpdate" && type != "OnDelete")
    causes.unsupported(strategy.path(), shown_strategy(strategy), "RollingUpdate,OnDelete");
}

void check_daemon_update(const Place& rolling, const json::value* /*before*/, Causes& causes) {
  bool is_surging = !is_no_share(rolling.member("maxSurge"));
  if (is_no_share(rolling.member("maxUnavailable")) != is_surging) {
    if (is_surging)
      causes.invalid(rolling.path("maxSurge"), rolling.member("maxSurge"),
                     "may not be set when maxUnavailable is non-zero");
    else
      causes.required(rolling.path("maxUnavailable"), "cannot be 0 when maxSurge is 0");
  }
}

constexpr Rule kDaemonUpdate[] = {
    share("maxUnavailable"),
    share("maxSurge"),
    custom(check_daemon_update),
};

constexpr Rule kDaemonStrategy[] = {
    custom(check_daemon_strategy),
    inside("rollingUpdate", kDaemonUpdate),
};

constexpr Rule kDaemonSetSpec[] = {
    custom(check_selector<kDaemonSetWord>),
    inside("template", kPodTemplateRules),
    custom(check_restarts_always<kDaemonSetName>),
    not_negative("minReadySeconds"),
    inside("updateStrategy", kDaemonStrategy),
    not_negative("revisionHistoryLimit"),
    fixed("selector"),
};

constexpr Rule kDaemonSetObject[] = {inside("spec", kDaemonSetSpec)};

// --- stateful sets

constexpr Rule kStatefulSetSpec[] = {
    not_negative("replicas"),
    not_negative("minReadySeconds"),
    text("serviceName", check_dns_label),
    required("selector"),
    custom(check_selector<kStatefulSetWord>),
    inside("template", kPodTemplateRules),
    custom(check_restarts_always<kStatefulSetName>),
    fixed("selector"),
    fixed("volumeClaimTemplates"),
    fixed("serviceName"),
    fixed("podManagementPolicy"),
};

constexpr Rule kStatefulSetObject[] = {inside("spec", kStatefulSetSpec)};

// --- replication controllers

void check_plain_selector(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const json::object& labels = spec.map("template.metadata.labels");
  for (const auto& wanted : spec.map("selector")) {
    const json::value* have = labels.if_contains(wanted.key());
    if (have != nullptr && *have == wanted.value()) continue;
    return causes.invalid(spec.path("template.metadata.labels"),
                          spec.member("template.metadata.labels"), kDoesNotMatch);
  }
}

void check_has_selector(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (spec.map("selector").empty()) causes.required(spec.path("selector"));
}

constexpr Rule kControllerSpec[] = {
    not_negative("minReadySeconds"),
    custom(check_has_selector),
    not_negative("replicas"),
    required("template"),
    custom(check_plain_selector),
    inside("template", kPodTemplateRules),
    custom(check_restarts_always<kControllerName>),
};

constexpr Rule kController[] = {inside("spec", kControllerSpec)};

// --- disruption budgets and autoscalers

void check_one_way(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (spec.has("minAvailable") && spec.has("maxUnavailable"))
    causes.invalid(
        spec.path(),
        json::object{{"MinAvailable", spec.member("minAvailable")},
                     {"Selector", spec.member("selector")},
                     {"MaxUnavailable", spec.member("maxUnavailable")},
                     {"UnhealthyPodEvictionPolicy", spec.member("unhealthyPodEvictionPolicy")}},
        "minAvailable and maxUnavailable cannot be both set");
}

constexpr Rule kBudgetSpec[] = {
    custom(check_one_way),
    share("minAvailable"),
    share("maxUnavailable"),
    one_of("unhealthyPodEvictionPolicy", "AlwaysAllow,IfHealthyBudget"),
};

constexpr Rule kBudget[] = {inside("spec", kBudgetSpec)};

void check_replica_range(const Place& spec, const json::value* /*before*/, Causes& causes) {
  auto most = spec.number("maxReplicas").value_or(0);
  auto least = spec.number("minReplicas");
  if (least && most < *least)
    causes.invalid(spec.path("maxReplicas"), most,
                   "must be greater than or equal to `minReplicas`");
  if (most == 0)
    causes.required(spec.path("maxReplicas"));
  else if (most < 1)
    causes.invalid(spec.path("maxReplicas"), most, "must be greater than or equal to 1");
}

constexpr Rule kScaleTarget[] = {
    required("kind"),
    text("kind", check_path_segment),
    required("name"),
    text("name", check_path_segment),
};

constexpr Rule kAutoscalerSpec[] = {
    range("minReplicas", 1),
    custom(check_replica_range),
    inside("scaleTargetRef", kScaleTarget),
};

constexpr Rule kAutoscaler[] = {inside("spec", kAutoscalerSpec)};

}  // namespace

constinit const RuleTable kDeploymentRules{kDeploymentObject};
constinit const RuleTable kReplicaSetRules{kReplicaSetObject};
constinit const RuleTable kDaemonSetRules{kDaemonSetObject};
constinit const RuleTable kStatefulSetRules{kStatefulSetObject};
constinit const RuleTable kReplicationControllerRules{kController};
constinit const RuleTable kDisruptionBudgetRules{kBudget};
constinit const RuleTable kAutoscalerRules{kAutoscaler};

}  // namespace plim::local::apiserver
