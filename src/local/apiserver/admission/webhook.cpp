#include "local/apiserver/admission/webhook.hpp"

#include "base/base64.hpp"
#include "kube/paths.hpp"

namespace plim::local::apiserver {
namespace {

std::string text_or(const json::value& value, kube::TextPath path, std::string_view fallback) {
  const std::string_view found = kube::text_at(value, path);
  return std::string(found.empty() ? fallback : found);
}

// A missing selector selects everything, unlike one in a workload.
Result<kube::LabelSelector> selector_at(const json::value& webhook, kube::AnyPath path) {
  const json::value* found = kube::find(webhook, path);
  if (!found || found->is_null()) return kube::LabelSelector::everything();
  return kube::LabelSelector::from_json(*found);
}

Result<Webhook> read_webhook(const json::value& object) {
  Webhook out;
  out.name = kube::text_at(object, "MutatingWebhook.name");
  out.url = kube::text_at(object, "MutatingWebhook.clientConfig.url");
  if (const json::value* service = kube::find(object, "MutatingWebhook.clientConfig.service")) {
    out.service_namespace =
        kube::text_at(*service, "AdmissionregistrationServiceReference.namespace");
    out.service_name = kube::text_at(*service, "AdmissionregistrationServiceReference.name");
    out.path = kube::text_at(*service, "AdmissionregistrationServiceReference.path");
    out.service_port = static_cast<int>(
        kube::int_at(*service, "AdmissionregistrationServiceReference.port").value_or(443));
  }
  PLIM_TRY(out.ca_pem,
           base64_decode(kube::text_at(object, "MutatingWebhook.clientConfig.caBundle")));
  for (const json::value& rule : kube::list_at(object, "MutatingWebhook.rules")) {
    out.rules.push_back({.operations = kube::texts_at(rule, "RuleWithOperations.operations"),
                         .groups = kube::texts_at(rule, "RuleWithOperations.apiGroups"),
                         .versions = kube::texts_at(rule, "RuleWithOperations.apiVersions"),
                         .resources = kube::texts_at(rule, "RuleWithOperations.resources"),
                         .scope = text_or(rule, "RuleWithOperations.scope", "*")});
  }
  PLIM_TRY(out.namespaces, selector_at(object, "MutatingWebhook.namespaceSelector"));
  PLIM_TRY(out.objects, selector_at(object, "MutatingWebhook.objectSelector"));
  for (const json::value& condition : kube::list_at(object, "MutatingWebhook.matchConditions")) {
    PLIM_TRY(CelExpression expression,
             CelExpression::parse(kube::text_at(condition, "MatchCondition.expression")));
    out.conditions.push_back(
        {.text = std::string(kube::text_at(condition, "MatchCondition.expression")),
         .expression = std::move(expression)});
  }
  out.ignore_failures = kube::text_at(object, "MutatingWebhook.failurePolicy") == "Ignore";
  out.reinvoke = kube::text_at(object, "MutatingWebhook.reinvocationPolicy") == "IfNeeded";
  out.timeout =
      std::chrono::seconds(kube::int_at(object, "MutatingWebhook.timeoutSeconds").value_or(10));
  return out;
}

}  // namespace

std::vector<Webhook> webhooks_of(const json::value& configuration) {
  std::vector<Webhook> out;
  for (const json::value& object :
       kube::list_at(configuration, "MutatingWebhookConfiguration.webhooks"))
    if (auto webhook = read_webhook(object)) out.push_back(std::move(*webhook));
  return out;
}

}  // namespace plim::local::apiserver
