#include "local/apiserver/api/openapi.hpp"

#include <fmt/format.h>

#include "kube/reference_version.hpp"
#include "local/apiserver/api/openapi_schemas.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver {
namespace {

json::value parameter(std::string_view name, std::string_view type) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
}

json::value path_parameter(std::string_view name) {
  return {{"name", name},
          {"in", "path"},
          {"required", true},
          {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
}

json::value patch_operation(const Kind& kind) {
  json::array parameters{parameter("dryRun", "string"), parameter("fieldManager", "string"),
                         parameter("fieldValidation", "string"), parameter("force", "boolean")};
  return {{"operationId", fmt::format("patch{}{}", kind.version, kind.kind)},
          {"parameters", std::move(parameters)},
          {"responses", {{"200", {{"description", "OK"}}}}},
          {"x-kubernetes-action", "patch"},
          {"x-kubernetes-group-version-kind",
           {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}}};
}

}  // namespace

std::string openapi_path(std::string_view group, std::string_view version) {
  return group.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", group, version);
}

json::value openapi_v3_index(const Kinds& kinds) {
  json::object paths;
  for (const Kinds::Group& group : kinds.groups()) {
    for (const std::string& version : group.versions) {
      const std::string path = openapi_path(group.name, version);
      const std::string hash = net::sha256_hex(to_json(*openapi_v3(kinds, path)));
      paths[path] = json::object{
          {"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, hash.substr(0, 32))}};
    }
  }
  return {{"paths", std::move(paths)}};
}

bool has_openapi(const Kinds& kinds, std::string_view group_version) {
  for (const Kinds::Group& group : kinds.groups())
    for (const std::string& version : group.versions)
      if (openapi_path(group.name, version) == group_version) return true;
  return false;
}

std::optional<json::value> openapi_v3(const Kinds& kinds, std::string_view group_version) {
  for (const Kinds::Group& group : kinds.groups()) {
    for (const std::string& version : group.versions) {
      if (openapi_path(group.name, version) != group_version) continue;
      json::object paths;
      OpenapiSchemas schemas("#/components/schemas/");
      for (const KindPtr& kind : kinds.of(group.name, version)) {
        schemas.add(*kind);
        if (!kind->has_verb("patch")) continue;
        json::array parameters{path_parameter("name")};
        if (kind->namespaced) parameters.push_back(path_parameter("namespace"));
        paths[fmt::format("/{}/{}{}/{{name}}", group_version,
                          kind->namespaced ? "namespaces/{namespace}/" : "", kind->plural)] =
            json::object{{"parameters", std::move(parameters)}, {"patch", patch_operation(*kind)}};
      }
      return json::value{{"openapi", "3.0.0"},
                         {"info", {{"title", "Kubernetes"}, {"version", kube::kReferenceVersion}}},
                         {"paths", std::move(paths)},
                         {"components", {{"schemas", std::move(schemas).take()}}}};
    }
  }
  return std::nullopt;
}

}  // namespace plim::local::apiserver
