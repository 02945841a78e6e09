#include "local/apiserver/admission/webhook.hpp"

#include "base/base64.hpp"

namespace plim::local::apiserver {
namespace {

std::string text_or(const json::value& value, std::string_view key, std::string_view fallback) {
  const std::string_view found = text_at(value, {key});
  return std::string(found.empty() ? fallback : found);
}

// A missing selector selects everything, unlike one in a workload.
Result<kube::LabelSelector> selector_at(const json::value& webhook, std::string_view key) {
  const json::value* found = find(webhook, {key});
  if (!found || found->is_null()) return kube::LabelSelector::everything();
  return kube::LabelSelector::from_json(*found);
}

Result<Webhook> read_webhook(const json::value& object) {
  Webhook out;
  out.name = text_at(object, {"name"});
  out.url = text_at(object, {"clientConfig", "url"});
  if (const json::value* service = find(object, {"clientConfig", "service"})) {
    out.service_namespace = text_at(*service, {"namespace"});
    out.service_name = text_at(*service, {"name"});
    out.path = text_at(*service, {"path"});
    out.service_port = static_cast<int>(int_at(*service, {"port"}).value_or(443));
  }
  PLIM_TRY(out.ca_pem, base64_decode(text_at(object, {"clientConfig", "caBundle"})));
  for (const json::value& rule : list_at(object, {"rules"})) {
    out.rules.push_back({.operations = texts_at(rule, {"operations"}),
                         .groups = texts_at(rule, {"apiGroups"}),
                         .versions = texts_at(rule, {"apiVersions"}),
                         .resources = texts_at(rule, {"resources"}),
                         .scope = text_or(rule, "scope", "*")});
  }
  PLIM_TRY(out.namespaces, selector_at(object, "namespaceSelector"));
  PLIM_TRY(out.objects, selector_at(object, "objectSelector"));
  for (const json::value& condition : list_at(object, {"matchConditions"})) {
    PLIM_TRY(CelExpression expression, CelExpression::parse(text_at(condition, {"expression"})));
    out.conditions.push_back({.text = std::string(text_at(condition, {"expression"})),
                              .expression = std::move(expression)});
  }
  out.ignore_failures = text_at(object, {"failurePolicy"}) == "Ignore";
  out.reinvoke = text_at(object, {"reinvocationPolicy"}) == "IfNeeded";
  out.timeout = std::chrono::seconds(int_at(object, {"timeoutSeconds"}).value_or(10));
  return out;
}

}  // namespace

std::vector<Webhook> webhooks_of(const json::value& configuration) {
  std::vector<Webhook> out;
  for (const json::value& object : list_at(configuration, {"webhooks"}))
    if (auto webhook = read_webhook(object)) out.push_back(std::move(*webhook));
  return out;
}

}  // namespace plim::local::apiserver
