#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "local/apiserver/schema/default_hooks.hpp"
#include "local/apiserver/schema/member_order.hpp"

namespace plim::local::apiserver {
namespace {

// If Go uses a pointer, only a missing value gets the default.
void set_if_missing(json::object& object, std::string_view field, json::value value) {
  if (!object.contains(field)) object[field] = std::move(value);
}

const json::object* template_labels(const json::object& workload) {
  const json::value* spec = workload.if_contains("spec");
  if (spec == nullptr) return nullptr;
  const json::value* labels = find(*spec, {"template", "metadata", "labels"});
  return labels != nullptr && labels->is_object() ? &labels->get_object() : nullptr;
}

void default_labels(json::object& workload) {
  const json::object* labels = template_labels(workload);
  if (labels == nullptr) return;
  json::value copy = *labels;
  set_if_unset(object_in(workload, "metadata"), "labels", std::move(copy));
}

}  // namespace

void default_rolling_update(json::object& strategy) {
  set_if_unset(strategy, "type", "RollingUpdate");
  if (strategy["type"] == "RollingUpdate") object_in(strategy, "rollingUpdate");
}

void default_stateful_set_strategy(json::object& strategy) {
  if (!is_unset(strategy, "type")) return;
  strategy["type"] = "RollingUpdate";
  object_in(strategy, "rollingUpdate");
}

void default_daemon_set(json::object& daemon_set) {
  json::object& annotations = object_in(object_in(daemon_set, "metadata"), "annotations");
  set_if_unset(annotations, "deprecated.daemonset.template.generation", "1");
  sort_map(annotations);
}

void default_stateful_set(json::object& set) {
  json::value* claims = object_in(set, "spec").if_contains("volumeClaimTemplates");
  if (claims == nullptr || !claims->is_array()) return;
  for (json::value& claim : claims->get_array()) {
    if (!claim.is_object()) continue;
    set_if_unset(claim.get_object(), "kind", "PersistentVolumeClaim");
    set_if_unset(claim.get_object(), "apiVersion", "v1");
  }
}

void default_job(json::object& job) {
  default_labels(job);
  json::object& spec = object_in(job, "spec");
  if (!spec.contains("parallelism")) set_if_missing(spec, "completions", 1);
  set_if_missing(spec, "parallelism", 1);
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
  set_if_missing(spec, "backoffLimit", spec.contains("backoffLimitPerIndex") ? kNoLimit : 6);
  set_if_missing(spec, "completionMode", "NonIndexed");
  set_if_missing(spec, "suspend", false);
  set_if_missing(spec, "manualSelector", false);
  set_if_missing(spec, "podReplacementPolicy",
                 spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

void default_replication_controller(json::object& controller) {
  default_labels(controller);
  const json::object* labels = template_labels(controller);
  if (labels == nullptr) return;
  json::value copy = *labels;
  set_if_unset(object_in(controller, "spec"), "selector", std::move(copy));
}

}  // namespace plim::local::apiserver
