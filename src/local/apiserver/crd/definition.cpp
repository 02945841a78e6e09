#include "local/apiserver/crd/definition.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/crd/custom_rules.hpp"

namespace plim::local::apiserver {
namespace {

// Stable versions before betas before alphas, higher numbers first; other names last.
std::tuple<int, int, int> rank(std::string_view version) {
  if (!version.starts_with('v')) return {3, 0, 0};
  const std::size_t end = std::min(version.find_first_not_of("0123456789", 1), version.size());
  const auto major = parse_int<int>(version.substr(1, end - 1));
  if (!major) return {3, 0, 0};
  const std::string_view rest = version.substr(end);
  if (rest.empty()) return {0, -*major, 0};
  for (const auto& [word, order] : {std::pair{"beta", 1}, std::pair{"alpha", 2}}) {
    const auto minor = rest.starts_with(word)
                           ? parse_int<int>(rest.substr(std::string_view(word).size()))
                           : Result<int>(fail(Code::invalid, ""));
    if (minor) return {order, -*major, -*minor};
  }
  return {3, 0, 0};
}

// The warning of the definition, or one that names the best version that is not deprecated.
std::string deprecation_of(const json::value& definition, const json::value& version) {
  if (const std::string_view own = text_at(version, {"deprecationWarning"}); !own.empty())
    return std::string(own);
  const std::string_view group = text_at(definition, {"spec", "group"});
  const std::string_view kind = text_at(definition, {"spec", "names", "kind"});
  std::string out = fmt::format("{}/{} {} is deprecated", group, text_at(version, {"name"}), kind);
  std::string_view best;
  for (const json::value& other : list_at(definition, {"spec", "versions"})) {
    const std::string_view name = text_at(other, {"name"});
    if (!bool_at(other, {"served"}) || bool_at(other, {"deprecated"})) continue;
    if (best.empty() || rank(name) < rank(best)) best = name;
  }
  if (!best.empty()) out += fmt::format("; use {}/{} {}", group, best, kind);
  return out;
}

Kind kind_of(const json::value& definition, const json::value& version) {
  Kind out;
  out.group = text_at(definition, {"spec", "group"});
  out.version = text_at(version, {"name"});
  out.plural = text_at(definition, {"spec", "names", "plural"});
  out.singular = text_at(definition, {"spec", "names", "singular"});
  out.kind = text_at(definition, {"spec", "names", "kind"});
  out.list_kind = text_at(definition, {"spec", "names", "listKind"});
  out.short_names = texts_at(definition, {"spec", "names", "shortNames"});
  out.categories = texts_at(definition, {"spec", "names", "categories"});
  out.namespaced = text_at(definition, {"spec", "scope"}) == "Namespaced";
  out.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  out.generation = Generation::content;
  const std::vector<std::string> verbs{"get", "patch", "update"};
  if (find(version, {"subresources", "status"}))
    out.subresources.push_back({.name = "status", .kind = out.kind, .verbs = verbs});
  if (find(version, {"subresources", "scale"}))
    out.subresources.push_back({.name = "scale",
                                .kind = "Scale",
                                .verbs = verbs,
                                .group = "autoscaling",
                                .version = "v1"});
  if (bool_at(version, {"deprecated"})) out.deprecation = deprecation_of(definition, version);
  out.rules = std::make_shared<const CustomRules>(version);
  return out;
}

}  // namespace

void complete_definition(json::value& definition) {
  json::object& names = make_object(definition, {"spec", "names"});
  const std::string kind(text_at(definition, {"spec", "names", "kind"}));
  if (text_at(definition, {"spec", "names", "singular"}).empty() && !kind.empty())
    names["singular"] = to_lower(kind);
  if (text_at(definition, {"spec", "names", "listKind"}).empty() && !kind.empty())
    names["listKind"] = kind + "List";
  json::object& spec = make_object(definition, {"spec"});
  if (!spec.contains("conversion")) spec["conversion"] = json::object{{"strategy", "None"}};
}

std::vector<Kind> kinds_of(const json::value& definition) {
  std::vector<const json::value*> versions;
  for (const json::value& version : list_at(definition, {"spec", "versions"}))
    if (bool_at(version, {"served"})) versions.push_back(&version);
  std::sort(versions.begin(), versions.end(), [](const json::value* a, const json::value* b) {
    return std::tuple(rank(text_at(*a, {"name"})), text_at(*a, {"name"})) <
           std::tuple(rank(text_at(*b, {"name"})), text_at(*b, {"name"}));
  });
  std::vector<Kind> out;
  for (const json::value* version : versions) out.push_back(kind_of(definition, *version));
  return out;
}

}  // namespace plim::local::apiserver
