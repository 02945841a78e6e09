// Validates a webhook configuration before it is stored.
#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/admission/webhook.hpp"
#include "net/url.hpp"

namespace plim::local::apiserver {
namespace {

class Checker {
 public:
  void check(const json::value& configuration) {
    const json::value* webhooks =
        kube::find(configuration, "MutatingWebhookConfiguration.webhooks");
    if (!webhooks || !webhooks->is_array()) return;
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < webhooks->get_array().size(); ++i) {
      const json::value& webhook = webhooks->get_array()[i];
      field_ = fmt::format("webhooks[{}]", i);
      check_webhook(webhook);
      const std::string_view name = kube::text_at(webhook, "MutatingWebhook.name");
      if (!names.emplace(name).second)
        add("FieldValueDuplicate", fmt::format("Duplicate value: {}", quote(name)), "name");
    }
  }

  std::vector<Cause> take() { return std::move(causes_); }

 private:
  void add(std::string reason, std::string message, std::string_view member) {
    causes_.push_back({.reason = std::move(reason),
                       .message = std::move(message),
                       .field = fmt::format("{}.{}", field_, member)});
  }

  void require(std::string_view member, std::string_view why) {
    add("FieldValueRequired",
        why.empty() ? "Required value" : fmt::format("Required value: {}", why), member);
  }

  void refuse(std::string_view value, std::string_view why, std::string_view member) {
    add("FieldValueInvalid", fmt::format("Invalid value: {}: {}", quote(value), why), member);
  }

  // The value must be one of `allowed`, or missing.
  void check_choice(const json::value& webhook, kube::TextPath path,
                    std::initializer_list<std::string_view> allowed) {
    const std::string_view value = kube::text_at(webhook, path);
    if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::string choices;
    for (std::string_view choice : allowed)
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", quote(choice));
    add("FieldValueNotSupported",
        fmt::format("Unsupported value: {}: supported values: {}", quote(value), choices),
        path.key());
  }

  void check_webhook(const json::value& webhook) {
    check_rules(webhook);
    const std::string_view name = kube::text_at(webhook, "MutatingWebhook.name");
    if (name.empty())
      require("name", "");
    else if (split(name, '.').size() < 3)
      refuse(name, "should be a domain with at least three segments separated by dots", "name");
    check_client(webhook);
    check_choice(webhook, "MutatingWebhook.failurePolicy", {"Fail", "Ignore"});
    check_choice(webhook, "MutatingWebhook.matchPolicy", {"Equivalent", "Exact"});
    check_choice(webhook, "MutatingWebhook.reinvocationPolicy", {"IfNeeded", "Never"});
    if (kube::text_at(webhook, "MutatingWebhook.sideEffects").empty())
      require("sideEffects", "must specify one of None, NoneOnDryRun");
    check_choice(webhook, "MutatingWebhook.sideEffects", {"None", "NoneOnDryRun"});
    check_versions(webhook);
    const std::int64_t timeout =
        kube::int_at(webhook, "MutatingWebhook.timeoutSeconds").value_or(10);
    if (timeout < 1 || timeout > 30)
      add("FieldValueInvalid",
          fmt::format("Invalid value: {}: the timeout value must be between 1 and 30 seconds",
                      timeout),
          "timeoutSeconds");
    constexpr kube::AnyPath kSelectors[] = {"MutatingWebhook.namespaceSelector",
                                            "MutatingWebhook.objectSelector"};
    for (kube::AnyPath path : kSelectors) {
      const json::value* selector = kube::find(webhook, path);
      if (!selector || selector->is_null()) continue;
      check_selector(*selector, path.key());
    }
    check_conditions(webhook);
  }

  void check_client(const json::value& webhook) {
    const std::string_view url = kube::text_at(webhook, "MutatingWebhook.clientConfig.url");
    const json::value* service = kube::find(webhook, "MutatingWebhook.clientConfig.service");
    if (url.empty() == (service == nullptr))
      return require("clientConfig", "exactly one of url or service is required");
    if (!base64_decode(kube::text_at(webhook, "MutatingWebhook.clientConfig.caBundle")))
      refuse("caBundle", "not base64", "clientConfig.caBundle");
    if (service)
      check_service(*service);
    else
      check_url(url);
  }

  void check_url(std::string_view url) {
    constexpr std::string_view kMember = "clientConfig.url";
    constexpr std::string_view kForm = "desired format: https://host[/path]";
    const std::size_t scheme_end = url.find("://");
    const std::string_view scheme = url.substr(0, std::min(scheme_end, url.size()));
    if (scheme_end != url.npos && scheme != "https")
      return refuse(scheme, fmt::format("'https' is the only allowed URL scheme; {}", kForm),
                    kMember);
    const auto parsed = net::parse_url(url.substr(0, url.find_first_of("?#")));
    if (!parsed)
      return require(kMember, fmt::format("url must be a valid URL: {}; {}",
                                          net::without_credentials(parsed.error().message), kForm));
    if (!parsed->user.empty())
      refuse(parsed->user, "user information is not permitted in the URL", kMember);
    if (const std::size_t mark = url.find('#'); mark != url.npos)
      refuse(url.substr(mark + 1), "fragments are not permitted in the URL", kMember);
    if (const std::size_t mark = url.find('?'); mark != url.npos)
      refuse(url.substr(mark + 1, url.find('#') - mark - 1),
             "query parameters are not permitted in the URL", kMember);
  }

  void check_service(const json::value& service) {
    // Upstream names each of the two when the other one is missing.
    if (kube::text_at(service, "AdmissionregistrationServiceReference.name").empty())
      require("clientConfig.service.namespace", "");
    if (kube::text_at(service, "AdmissionregistrationServiceReference.namespace").empty())
      require("clientConfig.service.name", "");
    const std::string_view path =
        kube::text_at(service, "AdmissionregistrationServiceReference.path");
    constexpr std::string_view kPath = "clientConfig.service.path";
    if (!path.empty() && path.front() != '/') refuse(path, "must start with a '/'", kPath);
    const auto segments = split(path.substr(std::min<std::size_t>(path.size(), 1)), '/');
    for (std::size_t i = 0; path.size() > 1 && i < segments.size(); ++i)
      if (segments[i].empty() && i + 1 < segments.size())
        refuse(path, fmt::format("segment[{}] may not be empty", i), kPath);
    const std::int64_t port =
        kube::int_at(service, "AdmissionregistrationServiceReference.port").value_or(443);
    if (port < 1 || port > 65535)
      add("FieldValueInvalid",
          fmt::format(
              "Invalid value: {}: port is not valid: must be between 1 and 65535, inclusive", port),
          "clientConfig.service.port");
  }

  void check_selector(const json::value& selector, std::string_view member) {
    const json::value* expressions = kube::find(selector, "LabelSelector.matchExpressions");
    if (expressions && expressions->is_array())
      for (std::size_t i = 0; i < expressions->get_array().size(); ++i) {
        const std::string_view how =
            kube::text_at(expressions->get_array()[i], "LabelSelectorRequirement.operator");
        if (how != "In" && how != "NotIn" && how != "Exists" && how != "DoesNotExist")
          return refuse(how, "not a valid selector operator",
                        fmt::format("{}.matchExpressions[{}].operator", member, i));
      }
    if (auto parsed = kube::LabelSelector::from_json(selector); !parsed)
      refuse("selector", parsed.error().message, member);
  }

  void check_rules(const json::value& webhook) {
    const json::value* rules = kube::find(webhook, "MutatingWebhook.rules");
    if (!rules || !rules->is_array()) return;
    for (std::size_t i = 0; i < rules->get_array().size(); ++i)
      check_rule(rules->get_array()[i], fmt::format("rules[{}]", i));
  }

  void check_rule(const json::value& rule, const std::string& field) {
    const json::array operations =
        check_names(rule, field, "RuleWithOperations.operations", "operations");
    constexpr std::string_view kOperations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
    for (std::size_t i = 0; i < operations.size(); ++i)
      check_supported(operations[i].get_string(), kOperations,
                      fmt::format("{}.operations[{}]", field, i));
    check_names(rule, field, "RuleWithOperations.apiGroups", "API groups");
    check_names(rule, field, "RuleWithOperations.apiVersions", "API versions");
    check_resources(rule, field);
    constexpr std::string_view kScopes[] = {"*", "Cluster", "Namespaced"};
    if (const std::string_view scope = kube::text_at(rule, "RuleWithOperations.scope");
        !scope.empty())
      check_supported(scope, kScopes, field + ".scope");
  }

  void check_supported(std::string_view value, std::span<const std::string_view> allowed,
                       const std::string& member) {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::string choices;
    for (std::string_view choice : allowed)
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", quote(choice));
    add("FieldValueNotSupported",
        fmt::format("Unsupported value: {}: supported values: {}", quote(value), choices), member);
  }

  // The list must not be empty, and a '*' must be its only element.
  json::array check_names(const json::value& rule, const std::string& field, kube::ListPath path,
                          std::string_view others) {
    const json::array names = texts_at(rule, path);
    if (names.empty()) require(fmt::format("{}.{}", field, path.key()), "");
    if (names.size() > 1 && std::ranges::find(names, json::value("*")) != names.end())
      refuse_list(names, fmt::format("if '*' is present, must not specify other {}", others),
                  fmt::format("{}.{}", field, path.key()));
    return names;
  }

  // No resource may be listed twice, such as `pods/*` and `pods/status`.
  void check_resources(const json::value& rule, const std::string& field) {
    const json::array resources = texts_at(rule, "RuleWithOperations.resources");
    const std::string member = field + ".resources";
    if (resources.empty()) require(member, "");
    std::set<std::string, std::less<>> every_sub, every_resource;
    bool bare = false;
    for (std::size_t i = 0; i < resources.size(); ++i) {
      const std::string_view whole = resources[i].get_string();
      const std::size_t slash = whole.find('/');
      bare = bare || (slash == whole.npos && whole != "*");
      if (slash == whole.npos) continue;
      const std::string_view resource = whole.substr(0, slash), sub = whole.substr(slash + 1);
      if (every_sub.contains(resource))
        refuse(whole, fmt::format("if '{}/*' is present, must not specify {}", resource, whole),
               fmt::format("{}[{}]", member, i));
      if (every_resource.contains(sub))
        refuse(whole, fmt::format("if '*/{}' is present, must not specify {}", sub, whole),
               fmt::format("{}[{}]", member, i));
      if (sub == "*") every_sub.emplace(resource);
      if (resource == "*") every_resource.emplace(sub);
    }
    const auto has = [&](std::string_view name) {
      return std::ranges::find(resources, json::value(name)) != resources.end();
    };
    if (has("*/*") && resources.size() > 1)
      refuse_list(resources, "if '*/*' is present, must not specify other resources", member);
    if (has("*") && bare)
      refuse_list(resources,
                  "if '*' is present, must not specify other resources without subresources",
                  member);
  }

  void refuse_list(const json::array& list, std::string_view why, std::string_view member) {
    add("FieldValueInvalid", fmt::format("Invalid value: {}: {}", to_json(list), why), member);
  }

  static json::array texts_at(const json::value& holder, kube::ListPath path) {
    json::array out;
    for (const json::value& one : kube::list_at(holder, path))
      if (one.is_string()) out.push_back(one);
    return out;
  }

  void check_versions(const json::value& webhook) {
    const json::value* versions = kube::find(webhook, "MutatingWebhook.admissionReviewVersions");
    if (!versions || !versions->is_array() || versions->get_array().empty())
      return require("admissionReviewVersions", "must specify one of v1, v1beta1");
    const json::array& list = versions->get_array();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) !=
          list.begin() + static_cast<std::ptrdiff_t>(i))
        refuse(list[i].is_string() ? std::string_view(list[i].get_string()) : "",
               "duplicate version", fmt::format("admissionReviewVersions[{}]", i));
    // Upstream accepts v1beta1 alone; this server sends only v1.
    if (std::find(list.begin(), list.end(), json::value("v1")) == list.end())
      refuse_list(list, "must include at least one of v1, v1beta1", "admissionReviewVersions");
  }

  void check_conditions(const json::value& webhook) {
    const json::value* conditions = kube::find(webhook, "MutatingWebhook.matchConditions");
    if (!conditions || !conditions->is_array()) return;
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < conditions->get_array().size(); ++i) {
      const json::value& condition = conditions->get_array()[i];
      const std::string field = fmt::format("matchConditions[{}]", i);
      const std::string_view name = kube::text_at(condition, "MatchCondition.name");
      if (name.empty()) require(field + ".name", "");
      if (!names.emplace(name).second)
        add("FieldValueDuplicate", fmt::format("Duplicate value: {}", quote(name)),
            field + ".name");
      const std::string_view expression = kube::text_at(condition, "MatchCondition.expression");
      if (auto parsed = CelExpression::parse(expression); !parsed)
        refuse(expression, "compilation failed: " + parsed.error().message, field + ".expression");
    }
  }

  std::string field_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> check_webhooks(const json::value& configuration) {
  Checker checker;
  checker.check(configuration);
  return checker.take();
}

}  // namespace plim::local::apiserver
