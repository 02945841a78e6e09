// OpenAPI 2 in protobuf, which clients before 1.27 require: the PATCH operations tell them which
// kinds support dry runs, the definitions which fields exist. Field numbers are those of gnostic's
// OpenAPIv2.proto.
#include <fmt/format.h>

#include "kube/reference_version.hpp"
#include "local/apiserver/api/openapi.hpp"
#include "local/apiserver/api/openapi_schemas.hpp"

namespace plim::local::apiserver {
namespace {

void put_varint(std::string& out, std::size_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Writes the field `number` with a string or a message.
void put(std::string& out, std::size_t number, std::string_view bytes) {
  put_varint(out, number << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

void put_text(std::string& out, std::size_t number, std::string_view text) {
  if (!text.empty()) put(out, number, text);
}

std::string named(std::string_view name, std::string_view value) {
  std::string out;
  put(out, 1, name);
  put(out, 2, value);
  return out;
}

std::string extension(std::string_view name, std::string_view yaml) {
  std::string any;
  put(any, 2, yaml);
  return named(name, any);
}

std::string gvk_yaml(const json::value& gvk) {
  return fmt::format("group: \"{}\"\nkind: {}\nversion: {}\n", text_at(gvk, {"group"}),
                     text_at(gvk, {"kind"}), text_at(gvk, {"version"}));
}

std::string schema_message(const json::value& schema);

std::string properties_message(const json::object& properties) {
  std::string out;
  for (const auto& [name, property] : properties)
    put(out, 1, named(name, schema_message(property)));
  return out;
}

std::string schema_message(const json::value& schema) {
  std::string out;
  put_text(out, 1, text_at(schema, {"$ref"}));
  put_text(out, 2, text_at(schema, {"format"}));
  put_text(out, 4, text_at(schema, {"description"}));
  if (const json::value* values = find(schema, {"additionalProperties"})) {
    std::string item;
    put(item, 1, schema_message(*values));
    put(out, 21, item);
  }
  // Version 2 has no alternatives of types; a string accepts both.
  const std::string_view type = find(schema, {"oneOf"}) ? "string" : text_at(schema, {"type"});
  if (!type.empty()) {
    std::string item;
    put(item, 1, type);
    put(out, 22, item);
  }
  if (const json::value* items = find(schema, {"items"})) {
    std::string item;
    put(item, 1, schema_message(*items));
    put(out, 23, item);
  }
  if (const json::value* properties = find(schema, {"properties"}))
    put(out, 25, properties_message(properties->as_object()));
  for (const char* name : {"x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"})
    if (const std::string_view value = text_at(schema, {name}); !value.empty())
      put(out, 31, extension(name, fmt::format("{}\n", value)));
  if (const json::value* kinds = find(schema, {"x-kubernetes-group-version-kind"})) {
    const json::value& gvk = kinds->as_array()[0];
    put(out, 31,
        extension(
            "x-kubernetes-group-version-kind",
            fmt::format("- group: \"{}\"\n  kind: {}\n  version: {}\n", text_at(gvk, {"group"}),
                        text_at(gvk, {"kind"}), text_at(gvk, {"version"}))));
  }
  return out;
}

std::string query_parameter(std::string_view name) {
  std::string sub, non_body, parameter, item;
  put(sub, 2, "query");
  put(sub, 4, name);
  put(sub, 6, "string");
  put(non_body, 3, sub);
  put(parameter, 2, non_body);
  put(item, 1, parameter);
  return item;
}

std::string path_item(const Kind& kind) {
  const json::value gvk{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
  std::string patch;
  for (const char* name : {"dryRun", "fieldManager", "force"}) put(patch, 8, query_parameter(name));
  put(patch, 13, extension("x-kubernetes-group-version-kind", gvk_yaml(gvk)));
  std::string out;
  put(out, 8, patch);
  return out;
}

}  // namespace

std::string openapi_v2(const Kinds& kinds) {
  OpenapiSchemas schemas("#/definitions/");
  std::string paths;
  for (const KindPtr& kind : kinds.all()) {
    schemas.add(*kind);
    if (!kind->has_verb("patch")) continue;
    const std::string path =
        fmt::format("/{}/{}{}/{{name}}", openapi_path(kind->group, kind->version),
                    kind->namespaced ? "namespaces/{namespace}/" : "", kind->plural);
    put(paths, 2, named(path, path_item(*kind)));
  }
  std::string info, out;
  put(info, 1, "Kubernetes");
  put(info, 2, kube::kReferenceVersion);
  put(out, 1, "2.0");
  put(out, 2, info);
  put(out, 8, paths);
  put(out, 9, properties_message(std::move(schemas).take()));
  return out;
}

}  // namespace plim::local::apiserver
