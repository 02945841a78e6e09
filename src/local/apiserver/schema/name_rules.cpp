#include "local/apiserver/schema/name_rules.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/selector.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kNameRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_label(std::string_view text) {
  auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits) && text.front() != '-' &&
         text.back() != '-';
}

bool is_subdomain(std::string_view text) {
  auto labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(), is_label);
}

std::string too_long(std::size_t limit) {
  return fmt::format("must be no more than {} characters", limit);
}

// Rules of labels count bytes in their messages, the other rules characters.
std::string too_many_bytes(std::size_t limit) {
  return fmt::format("must be no more than {} bytes", limit);
}

std::string name_part_rule() {
  return fmt::format(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '{}')",
      kNameRegex);
}

struct KindRule {
  std::string_view group;
  std::string_view kind;  // "": all kinds of the group
  NameRule rule;
};

constexpr std::array kRules{
    KindRule{"", "Namespace", check_dns_label},
    KindRule{"", "Service", check_dns_label},
    // Old clients write events with unchecked names.
    KindRule{"", "Event", check_path_segment},
    KindRule{"apps", "StatefulSet", check_dns_label},
    KindRule{"rbac.authorization.k8s.io", "", check_path_segment},
};

}  // namespace

Messages check_dns_subdomain(std::string_view name) {
  Messages out;
  if (name.size() > 253) out.push_back(too_long(253));
  if (!is_subdomain(name))
    out.push_back(fmt::format(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is '{0}(\\.{0})*')",
        kLabelRegex));
  return out;
}

Messages check_dns_label(std::string_view name) {
  Messages out;
  if (name.size() > 63) out.push_back(too_long(63));
  if (is_label(name)) return out;
  out.push_back(is_subdomain(name)
                    ? "must not contain dots"
                    : fmt::format("a lowercase RFC 1123 label must consist of lower case "
                                  "alphanumeric characters or '-', and must start and end with an "
                                  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
                                  "used for validation is '{}')",
                                  kLabelRegex));
  return out;
}

Messages check_dns_1035_label(std::string_view name) {
  Messages out;
  if (name.size() > 63) out.push_back(too_long(63));
  if (!is_label(name) || is_digit(name.front()))
    out.push_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  return out;
}

Messages check_path_segment(std::string_view name) {
  if (name == "." || name == "..") return {fmt::format("may not be '{}'", name)};
  Messages out;
  for (char c : {'/', '%'})
    if (name.find(c) != name.npos) out.push_back(fmt::format("may not contain '{}'", c));
  return out;
}

Messages check_qualified_name(std::string_view text) {
  if (kube::check_label_key(text)) return {};
  Messages out;
  std::string_view name = text;
  if (auto slash = text.find('/'); slash != text.npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != name.npos)
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      name_part_rule())};
    if (slash == 0)
      out.push_back("prefix part must be non-empty");
    else
      for (const std::string& message : check_dns_subdomain(text.substr(0, slash)))
        out.push_back("prefix part " + (message == too_long(253) ? too_many_bytes(253) : message));
  }
  if (name.empty()) out.push_back("name part must be non-empty");
  if (name.size() > 63) out.push_back("name part " + too_many_bytes(63));
  if (name.empty() || !kube::check_label_value(name.substr(0, 63)))
    out.push_back("name part " + name_part_rule());
  return out;
}

Messages check_label_text(std::string_view value) {
  if (kube::check_label_value(value)) return {};
  Messages out;
  if (value.size() > 63) out.push_back(too_many_bytes(63));
  if (!kube::check_label_value(value.substr(0, 63)))
    out.push_back(fmt::format(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is '({})?')",
        kNameRegex));
  return out;
}

Messages check_port_name(std::string_view name) {
  Messages out;
  if (name.size() > 15) out.push_back(too_long(15));
  auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  if (!std::all_of(name.begin(), name.end(), fits))
    out.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::none_of(name.begin(), name.end(), is_lower))
    out.push_back("must contain at least one letter (a-z)");
  if (name.find("--") != name.npos) out.push_back("must not contain consecutive hyphens");
  if (!name.empty() && (name.front() == '-' || name.back() == '-'))
    out.push_back("must not begin or end with a hyphen");
  return out;
}

Messages check_config_key(std::string_view key) {
  Messages out;
  if (key.size() > 253) out.push_back(too_long(253));
  auto fits = [](char c) {
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  };
  if (key.empty() || !std::all_of(key.begin(), key.end(), fits))
    out.push_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  if (key == "." || key == "..")
    out.push_back(fmt::format("must not be '{}'", key));
  else if (key.starts_with(".."))
    out.push_back("must not start with '..'");
  return out;
}

Messages check_variable_name(std::string_view name) {
  auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  if (std::all_of(name.begin(), name.end(), fits)) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

NameRule name_rule(std::string_view group, std::string_view kind) {
  for (const KindRule& entry : kRules)
    if (entry.group == group && (entry.kind.empty() || entry.kind == kind)) return entry.rule;
  return check_dns_subdomain;
}

}  // namespace plim::local::apiserver
