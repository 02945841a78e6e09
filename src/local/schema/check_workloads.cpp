#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kube/selector.hpp"
#include "local/schema/checks.hpp"

namespace plim::local {
namespace {

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

LabelPairs label_pairs(const json::value& owner, std::initializer_list<std::string_view> path) {
  LabelPairs out;
  for (const auto& entry : object_at(owner, path))
    if (entry.value().is_string()) out.emplace_back(entry.key(), entry.value().get_string());
  return out;
}

void check_selector(const json::value& object, std::string_view kind, Causes& causes) {
  const json::value& selector = value_at(object, {"spec", "selector"});
  if (selector.is_null()) return causes.required("spec.selector");
  if (object_at(selector, {"matchLabels"}).empty() &&
      array_at(selector, {"matchExpressions"}).empty())
    causes.invalid("spec.selector", selector,
                   fmt::format("empty selector is invalid for {}", kind));
  auto parsed = kube::LabelSelector::from_json(selector);
  if (!parsed) return causes.invalid("spec.selector", selector, parsed.error().message);
  if (!parsed->matches(label_pairs(object, {"spec", "template", "metadata", "labels"})))
    causes.invalid("spec.template.metadata.labels",
                   value_at(object, {"spec", "template", "metadata", "labels"}),
                   "`selector` does not match template `labels`");
}

void check_restarts_always(const json::value& object, std::string_view kind, Causes& causes) {
  const json::value& spec = value_at(object, {"spec", "template", "spec"});
  std::string_view policy = text_at(spec, {"restartPolicy"});
  if (policy == "OnFailure" || policy == "Never")
    causes.not_supported("spec.template.spec.restartPolicy", policy, {"Always"});
  if (find(spec, {"activeDeadlineSeconds"}) != nullptr)
    causes.forbidden("spec.template.spec.activeDeadlineSeconds",
                     fmt::format("activeDeadlineSeconds in {} is not Supported", kind));
}

// What all kinds have in common that keep pods running.
void check_workload(const json::value& object, std::string_view selector_kind,
                    std::string_view kind, Causes& causes) {
  const json::value& spec = value_at(object, {"spec"});
  for (std::string_view field : {"replicas", "minReadySeconds", "revisionHistoryLimit"})
    check_not_negative(spec, field, "spec", causes);
  check_selector(object, selector_kind, causes);
  check_pod_template(value_at(spec, {"template"}), "spec.template", causes);
  check_restarts_always(object, kind, causes);
}

bool is_zero_share(const json::value& value) {
  return value == json::value(0) || value == json::value("0%") || value == json::value("0");
}

void check_deployment_strategy(const json::value& strategy, Causes& causes) {
  std::string_view type = text_at(strategy, {"type"});
  const json::value* rolling = find(strategy, {"rollingUpdate"});
  if (type == "Recreate") {
    if (rolling != nullptr)
      causes.forbidden("spec.strategy.rollingUpdate",
                       "may not be specified when strategy `type` is 'Recreate'");
  } else if (type != "RollingUpdate") {
    causes.not_supported("spec.strategy.type", type, {"Recreate", "RollingUpdate"});
  } else if (rolling != nullptr && is_zero_share(value_at(*rolling, {"maxUnavailable"})) &&
             is_zero_share(value_at(*rolling, {"maxSurge"}))) {
    causes.invalid("spec.strategy.rollingUpdate.maxUnavailable",
                   value_at(*rolling, {"maxUnavailable"}), "may not be 0 when `maxSurge` is 0");
  }
}

}  // namespace

void check_deployment(const json::value& object, const json::value* before, Causes& causes) {
  check_workload(object, "deployment", "ReplicaSet", causes);
  check_deployment_strategy(value_at(object, {"spec", "strategy"}), causes);
  const json::value& spec = value_at(object, {"spec"});
  auto deadline = int_at(spec, {"progressDeadlineSeconds"});
  if (deadline && *deadline <= int_at(spec, {"minReadySeconds"}).value_or(0))
    causes.invalid("spec.progressDeadlineSeconds", *deadline,
                   "must be greater than minReadySeconds");
  if (before != nullptr) check_immutable(object, *before, {"spec", "selector"}, causes);
}

void check_replica_set(const json::value& object, const json::value* before, Causes& causes) {
  check_workload(object, "deployment", "ReplicaSet", causes);
  if (before != nullptr) check_immutable(object, *before, {"spec", "selector"}, causes);
}

void check_daemon_set(const json::value& object, const json::value* before, Causes& causes) {
  check_workload(object, "daemonset", "DaemonSet", causes);
  if (before != nullptr) check_immutable(object, *before, {"spec", "selector"}, causes);
}

void check_stateful_set(const json::value& object, const json::value* before, Causes& causes) {
  check_workload(object, "statefulset", "StatefulSet", causes);
  if (before == nullptr) return;
  json::value now = value_at(object, {"spec"});
  json::value then = value_at(*before, {"spec"});
  for (json::value* spec : {&now, &then})
    for (std::string_view field :
         {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"})
      if (spec->is_object()) spec->get_object().erase(field);
  if (now != then)
    causes.forbidden("spec",
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                     "'template', 'updateStrategy', 'revisionHistoryLimit', "
                     "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

void check_replication_controller(const json::value& object, const json::value* /*before*/,
                                  Causes& causes) {
  const json::value& spec = value_at(object, {"spec"});
  check_not_negative(spec, "replicas", "spec", causes);
  if (object_at(spec, {"selector"}).empty()) causes.required("spec.selector");
  const json::value* pod_template = find(spec, {"template"});
  if (pod_template == nullptr) return causes.required("spec.template");
  const json::object& labels = object_at(*pod_template, {"metadata", "labels"});
  for (const auto& wanted : object_at(spec, {"selector"})) {
    const json::value* have = labels.if_contains(wanted.key());
    if (have != nullptr && *have == wanted.value()) continue;
    causes.invalid("spec.template.metadata.labels", value_at(*pod_template, {"metadata", "labels"}),
                   "`selector` does not match template `labels`");
    break;
  }
  check_pod_template(*pod_template, "spec.template", causes);
  check_restarts_always(object, "ReplicationController", causes);
}

}  // namespace plim::local
