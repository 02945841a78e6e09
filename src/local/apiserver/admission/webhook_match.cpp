#include "local/apiserver/admission/webhook_match.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::local::apiserver {
namespace {

bool lists(const std::vector<std::string>& patterns, std::string_view value) {
  return std::any_of(patterns.begin(), patterns.end(), [value](const std::string& pattern) {
    return pattern == "*" || pattern == value;
  });
}

bool names_resource(const WebhookRule& rule, std::string_view plural, std::string_view sub) {
  return std::any_of(rule.resources.begin(), rule.resources.end(), [&](const std::string& pattern) {
    const auto [resource, subresource] = cut(pattern, '/');
    return (resource == "*" || resource == plural) && (subresource == "*" || subresource == sub);
  });
}

bool fits(const WebhookRule& rule, const Admission& admission) {
  const Kind& kind = *admission.kind;
  const bool scope_fits = rule.scope == "*" || (rule.scope == "Namespaced") == kind.namespaced;
  return scope_fits && lists(rule.operations, operation_name(admission.operation)) &&
         lists(rule.groups, kind.group) && lists(rule.versions, kind.version) &&
         names_resource(rule, kind.plural, admission.subresource);
}

std::map<std::string, std::string> labels_of(const json::object& labels) {
  std::map<std::string, std::string> out;
  for (const json::key_value_pair& label : labels)
    if (label.value().is_string())
      out.emplace(std::string(label.key()), std::string(label.value().get_string()));
  return out;
}

bool matches_object(const kube::LabelSelector& selector, const json::value& object) {
  if (!object.is_object()) return false;
  const json::value* labels = kube::find(object, "Object.metadata.labels");
  if (!labels || !labels->is_object())
    return selector.matches(std::map<std::string, std::string>());
  return selector.matches(labels_of(labels->get_object()));
}

}  // namespace

std::string_view operation_name(Admission::Operation operation) {
  switch (operation) {
    case Admission::Operation::create:
      return "CREATE";
    case Admission::Operation::update:
      return "UPDATE";
    case Admission::Operation::remove:
      return "DELETE";
    case Admission::Operation::connect:
      break;
  }
  return "CONNECT";
}

bool selects(const Webhook& webhook, const Admission& admission,
             const json::object* namespace_labels) {
  const bool ruled = std::any_of(webhook.rules.begin(), webhook.rules.end(),
                                 [&](const WebhookRule& rule) { return fits(rule, admission); });
  if (!ruled) return false;
  if (namespace_labels && !webhook.namespaces.matches(labels_of(*namespace_labels))) return false;
  return webhook.objects.requirements().empty() ||
         matches_object(webhook.objects, admission.object) ||
         matches_object(webhook.objects, admission.before);
}

Result<bool> conditions_hold(const Webhook& webhook, const json::value& request) {
  const json::value nothing;
  const json::value* object = kube::find(request, "AdmissionRequest.object");
  const json::value* before = kube::find(request, "AdmissionRequest.oldObject");
  const CelExpression::Variables variables{{"object", object ? object : &nothing},
                                           {"oldObject", before ? before : &nothing},
                                           {"request", &request}};
  std::optional<Error> failed;
  for (const MatchCondition& condition : webhook.conditions) {
    auto holds = condition.expression.evaluate(variables);
    if (holds && !*holds) return false;
    if (!holds && !failed)
      failed = holds.error().with_context(
          fmt::format("expression '{}' resulted in error", condition.text));
  }
  if (failed) return *failed;
  return true;
}

}  // namespace plim::local::apiserver
