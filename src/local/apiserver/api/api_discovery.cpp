#include "local/apiserver/api/api_discovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver {
namespace {

json::array strings(const std::vector<std::string>& list) {
  return json::array(list.begin(), list.end());
}

json::value group_json(const Kinds::Group& group) {
  json::array versions;
  for (const std::string& version : group.versions)
    versions.push_back(
        {{"groupVersion", fmt::format("{}/{}", group.name, version)}, {"version", version}});
  json::object out{{"name", group.name}, {"versions", versions}};
  out["preferredVersion"] = versions.front();
  return out;
}

// Any stable text will do; it changes when a kind is stored in another form.
std::string storage_hash(const Kind& kind) {
  const std::string digest =
      net::sha256_hex(fmt::format("{}/{}/{}", kind.group, kind.version, kind.kind));
  return base64_encode(std::string_view(digest).substr(0, 8));
}

json::value resource_json(const Kind& kind) {
  json::object out{{"name", kind.plural},
                   {"singularName", kind.singular},
                   {"namespaced", kind.namespaced},
                   {"kind", kind.kind},
                   {"verbs", strings(kind.verbs)}};
  if (!kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
  if (!kind.categories.empty()) out["categories"] = strings(kind.categories);
  if (kind.has_verb("watch")) out["storageVersionHash"] = storage_hash(kind);
  return out;
}

json::value subresource_json(const Kind& kind, const Subresource& sub) {
  json::object out{{"name", fmt::format("{}/{}", kind.plural, sub.name)},
                   {"singularName", ""},
                   {"namespaced", kind.namespaced}};
  if (!sub.version.empty()) {
    out["group"] = sub.group;
    out["version"] = sub.version;
  }
  out["kind"] = sub.kind;
  out["verbs"] = strings(sub.verbs);
  return out;
}

json::value response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

json::value aggregated_resource(const Kind& kind) {
  json::object out{{"resource", kind.plural},
                   {"responseKind", response_kind(kind.group, kind.version, kind.kind)},
                   {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", kind.singular},
                   {"verbs", strings(kind.verbs)}};
  if (!kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
  if (!kind.categories.empty()) out["categories"] = strings(kind.categories);
  json::array subresources;
  for (const Subresource& sub : kind.subresources) {
    const bool foreign = !sub.version.empty();
    subresources.push_back(
        {{"subresource", sub.name},
         {"responseKind", response_kind(foreign ? sub.group : kind.group,
                                        foreign ? sub.version : kind.version, sub.kind)},
         {"verbs", strings(sub.verbs)}});
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

}  // namespace

json::value api_versions() {
  const json::value address{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", ""}};
  return {{"kind", "APIVersions"},
          {"versions", json::array{"v1"}},
          {"serverAddressByClientCIDRs", json::array{address}}};
}

json::value group_list(const Kinds& kinds) {
  json::array groups;
  for (const Kinds::Group& one : kinds.groups())
    if (!one.name.empty()) groups.push_back(group_json(one));
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<json::value> group(const Kinds& kinds, std::string_view name) {
  const auto groups = kinds.groups();
  auto found = std::ranges::find(groups, name, &Kinds::Group::name);
  if (found == groups.end() || name.empty()) return std::nullopt;
  json::value out = group_json(*found);
  out.as_object()["kind"] = "APIGroup";
  out.as_object()["apiVersion"] = "v1";
  return out;
}

json::value resource_list(const Kinds& kinds, std::string_view group, std::string_view version) {
  json::array resources;
  for (const KindPtr& kind : kinds.of(group, version)) {
    resources.push_back(resource_json(*kind));
    for (const Subresource& sub : kind->subresources)
      resources.push_back(subresource_json(*kind, sub));
  }
  return {
      {"kind", "APIResourceList"},
      {"apiVersion", "v1"},
      {"groupVersion", group.empty() ? std::string(version) : fmt::format("{}/{}", group, version)},
      {"resources", std::move(resources)}};
}

json::value aggregated_discovery(const Kinds& kinds, bool core, std::string_view version) {
  json::array items;
  for (const Kinds::Group& one : kinds.groups()) {
    if (one.name.empty() != core) continue;
    json::array versions;
    for (const std::string& name : one.versions) {
      json::array resources;
      for (const KindPtr& kind : kinds.of(one.name, name))
        resources.push_back(aggregated_resource(*kind));
      versions.push_back(
          {{"version", name}, {"resources", std::move(resources)}, {"freshness", "Current"}});
    }
    json::object metadata;
    if (!one.name.empty()) metadata["name"] = one.name;
    metadata["creationTimestamp"] = nullptr;
    items.push_back({{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", fmt::format("apidiscovery.k8s.io/{}", version)},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

}  // namespace plim::local::apiserver
