// What the server demands of a webhook configuration before it is stored.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "local/admission/webhook.hpp"
#include "net/url.hpp"

namespace plim::local {
namespace {

class Checker {
 public:
  void check(const json::value& configuration) {
    const json::value* webhooks = find(configuration, {"webhooks"});
    if (!webhooks || !webhooks->is_array()) return;
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < webhooks->get_array().size(); ++i) {
      const json::value& webhook = webhooks->get_array()[i];
      field_ = fmt::format("webhooks[{}]", i);
      check_webhook(webhook);
      const std::string_view name = text_at(webhook, {"name"});
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

  // One of `allowed`, or nothing.
  void check_choice(const json::value& webhook, std::string_view member,
                    std::initializer_list<std::string_view> allowed) {
    const std::string_view value = text_at(webhook, {member});
    if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::string choices;
    for (std::string_view choice : allowed)
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", quote(choice));
    add("FieldValueNotSupported",
        fmt::format("Unsupported value: {}: supported values: {}", quote(value), choices), member);
  }

  void check_webhook(const json::value& webhook) {
    const std::string_view name = text_at(webhook, {"name"});
    if (name.empty())
      require("name", "");
    else if (split(name, '.').size() < 3)
      refuse(name, "should be a domain with at least three segments separated by dots", "name");
    check_client(webhook);
    check_choice(webhook, "failurePolicy", {"Fail", "Ignore"});
    check_choice(webhook, "matchPolicy", {"Equivalent", "Exact"});
    check_choice(webhook, "reinvocationPolicy", {"IfNeeded", "Never"});
    if (text_at(webhook, {"sideEffects"}).empty())
      require("sideEffects", "must specify one of None, NoneOnDryRun");
    check_choice(webhook, "sideEffects", {"None", "NoneOnDryRun"});
    check_versions(webhook);
    const std::int64_t timeout = int_at(webhook, {"timeoutSeconds"}).value_or(10);
    if (timeout < 1 || timeout > 30)
      add("FieldValueInvalid",
          fmt::format("Invalid value: {}: the timeout value must be between 1 and 30 seconds",
                      timeout),
          "timeoutSeconds");
    for (const char* member : {"namespaceSelector", "objectSelector"}) {
      const json::value* selector = find(webhook, {member});
      if (!selector || selector->is_null()) continue;
      if (auto parsed = kube::LabelSelector::from_json(*selector); !parsed)
        refuse("selector", parsed.error().message, member);
    }
    check_conditions(webhook);
  }

  void check_client(const json::value& webhook) {
    const std::string_view url = text_at(webhook, {"clientConfig", "url"});
    const json::value* service = find(webhook, {"clientConfig", "service"});
    if (url.empty() == (service == nullptr))
      return require("clientConfig", "exactly one of url or service is required");
    if (!base64_decode(text_at(webhook, {"clientConfig", "caBundle"})))
      refuse("caBundle", "not base64", "clientConfig.caBundle");
    if (!service) {
      const auto parsed = net::parse_url(url);
      if (!parsed || parsed->scheme != net::Url::Scheme::https || !parsed->user.empty() ||
          url.find_first_of("?#") != url.npos)
        refuse(net::without_credentials(url),
               "must be a https URL without user, query and fragment", "clientConfig.url");
      return;
    }
    for (const char* member : {"namespace", "name"})
      if (text_at(*service, {member}).empty())
        require(fmt::format("clientConfig.service.{}", member), "");
    const std::string_view path = text_at(*service, {"path"});
    if (!path.empty() && path.front() != '/')
      refuse(path, "must start with a '/'", "clientConfig.service.path");
    const std::int64_t port = int_at(*service, {"port"}).value_or(443);
    if (port < 1 || port > 65535)
      refuse(fmt::format("{}", port), "must be between 1 and 65535", "clientConfig.service.port");
  }

  void check_versions(const json::value& webhook) {
    const json::value* versions = find(webhook, {"admissionReviewVersions"});
    if (!versions || !versions->is_array() || versions->get_array().empty())
      return require("admissionReviewVersions", "must specify one of v1, v1beta1");
    const json::array& list = versions->get_array();
    if (std::find(list.begin(), list.end(), json::value("v1")) == list.end())
      refuse(to_json(*versions), "must include v1, the version that is spoken here",
             "admissionReviewVersions");
  }

  void check_conditions(const json::value& webhook) {
    const json::value* conditions = find(webhook, {"matchConditions"});
    if (!conditions || !conditions->is_array()) return;
    for (std::size_t i = 0; i < conditions->get_array().size(); ++i) {
      const json::value& condition = conditions->get_array()[i];
      const std::string field = fmt::format("matchConditions[{}]", i);
      if (text_at(condition, {"name"}).empty()) require(field + ".name", "");
      const std::string_view expression = text_at(condition, {"expression"});
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

}  // namespace plim::local
