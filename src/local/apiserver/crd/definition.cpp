#include "local/apiserver/crd/definition.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
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
  if (const std::string_view own =
          kube::text_at(version, "CustomResourceDefinitionVersion.deprecationWarning");
      !own.empty())
    return std::string(own);
  const std::string_view group = kube::text_at(definition, "CustomResourceDefinition.spec.group");
  const std::string_view kind =
      kube::text_at(definition, "CustomResourceDefinition.spec.names.kind");
  std::string out =
      fmt::format("{}/{} {} is deprecated", group,
                  kube::text_at(version, "CustomResourceDefinitionVersion.name"), kind);
  std::string_view best;
  for (const json::value& other :
       kube::list_at(definition, "CustomResourceDefinition.spec.versions")) {
    const std::string_view name = kube::text_at(other, "CustomResourceDefinitionVersion.name");
    if (!kube::bool_at(other, "CustomResourceDefinitionVersion.served") ||
        kube::bool_at(other, "CustomResourceDefinitionVersion.deprecated"))
      continue;
    if (best.empty() || rank(name) < rank(best)) best = name;
  }
  if (!best.empty()) out += fmt::format("; use {}/{} {}", group, best, kind);
  return out;
}

Kind kind_of(const json::value& definition, const json::value& version) {
  Kind out;
  out.group = kube::text_at(definition, "CustomResourceDefinition.spec.group");
  out.version = kube::text_at(version, "CustomResourceDefinitionVersion.name");
  out.plural = kube::text_at(definition, "CustomResourceDefinition.spec.names.plural");
  out.singular = kube::text_at(definition, "CustomResourceDefinition.spec.names.singular");
  out.kind = kube::text_at(definition, "CustomResourceDefinition.spec.names.kind");
  out.list_kind = kube::text_at(definition, "CustomResourceDefinition.spec.names.listKind");
  out.short_names = kube::texts_at(definition, "CustomResourceDefinition.spec.names.shortNames");
  out.categories = kube::texts_at(definition, "CustomResourceDefinition.spec.names.categories");
  out.namespaced = kube::text_at(definition, "CustomResourceDefinition.spec.scope") == "Namespaced";
  out.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  out.generation = Generation::content;
  const std::vector<std::string> verbs{"get", "patch", "update"};
  if (kube::find(version, "CustomResourceDefinitionVersion.subresources.status"))
    out.subresources.push_back({.name = "status", .kind = out.kind, .verbs = verbs});
  if (kube::find(version, "CustomResourceDefinitionVersion.subresources.scale"))
    out.subresources.push_back({.name = "scale",
                                .kind = "Scale",
                                .verbs = verbs,
                                .group = "autoscaling",
                                .version = "v1"});
  if (kube::bool_at(version, "CustomResourceDefinitionVersion.deprecated"))
    out.deprecation = deprecation_of(definition, version);
  out.rules = std::make_shared<const CustomRules>(version);
  return out;
}

}  // namespace

void complete_definition(json::value& definition) {
  json::object& names = kube::make_object(definition, "CustomResourceDefinition.spec.names");
  const std::string kind(kube::text_at(definition, "CustomResourceDefinition.spec.names.kind"));
  if (kube::text_at(definition, "CustomResourceDefinition.spec.names.singular").empty() &&
      !kind.empty())
    names["singular"] = to_lower(kind);
  if (kube::text_at(definition, "CustomResourceDefinition.spec.names.listKind").empty() &&
      !kind.empty())
    names["listKind"] = kind + "List";
  json::object& spec = kube::make_object(definition, "CustomResourceDefinition.spec");
  if (!spec.contains("conversion")) spec["conversion"] = json::object{{"strategy", "None"}};
}

std::vector<Kind> kinds_of(const json::value& definition) {
  std::vector<const json::value*> versions;
  for (const json::value& version :
       kube::list_at(definition, "CustomResourceDefinition.spec.versions"))
    if (kube::bool_at(version, "CustomResourceDefinitionVersion.served"))
      versions.push_back(&version);
  std::sort(versions.begin(), versions.end(), [](const json::value* a, const json::value* b) {
    return std::tuple(rank(kube::text_at(*a, "CustomResourceDefinitionVersion.name")),
                      kube::text_at(*a, "CustomResourceDefinitionVersion.name")) <
           std::tuple(rank(kube::text_at(*b, "CustomResourceDefinitionVersion.name")),
                      kube::text_at(*b, "CustomResourceDefinitionVersion.name"));
  });
  std::vector<Kind> out;
  for (const json::value* version : versions) out.push_back(kind_of(definition, *version));
  return out;
}

}  // namespace plim::local::apiserver
