#include "local/apiserver/api/openapi_schemas.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

// Clients print the part of a name after its last dot.
constexpr std::string_view kPrefix = "io.k8s.";

json::value list_type(const Field& field) {
  constexpr std::string_view kNames[] = {"atomic", "set", "map"};
  return json::value(kNames[static_cast<std::size_t>(field.list)]);
}

}  // namespace

void OpenapiSchemas::add(const Kind& kind) {
  if (!kind.type) return;
  const std::string name = fmt::format(
      "{}{}.{}.{}", kPrefix, kind.group.empty() ? "core" : kind.group, kind.version, kind.kind);
  json::object properties{{"apiVersion", {{"type", "string"}}}, {"kind", {{"type", "string"}}}};
  for (auto& [field, schema] : properties_of(*kind.type)) properties[field] = std::move(schema);
  const json::value gvk{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
  schemas_[name] = json::object{{"type", "object"},
                                {"properties", std::move(properties)},
                                {"x-kubernetes-group-version-kind", json::array{gvk}}};
}

std::string OpenapiSchemas::name_of(const Type& type) {
  if (auto found = names_.find(&type); found != names_.end()) return found->second;
  std::string name = fmt::format("{}{}", kPrefix, type.name);
  for (int i = 2; schemas_.contains(name); ++i)
    name = fmt::format("{}{}.{}", kPrefix, i, type.name);
  names_[&type] = name;
  schemas_[name] = json::object{{"type", "object"}};  // set first: the type may refer to itself
  json::object properties = properties_of(type);
  if (!properties.empty()) schemas_[name].as_object()["properties"] = std::move(properties);
  return name;
}

json::object OpenapiSchemas::properties_of(const Type& type) {
  json::object out;
  for (const Field& field : type.fields) out[field.name] = schema_of(field);
  return out;
}

json::object OpenapiSchemas::schema_of(const Field& field) {
  if (field.shape == Shape::one) return one(field);
  json::object out;
  if (field.shape == Shape::map) {
    out = json::object{{"type", "object"}, {"additionalProperties", one(field)}};
  } else {
    out = json::object{{"type", "array"}, {"items", one(field)}};
    out["x-kubernetes-list-type"] = list_type(field);
    if (field.list == ListKind::map) {
      json::array& keys = out["x-kubernetes-list-map-keys"].emplace_array();
      for (const std::string_view key : split(field.list_keys, ',')) keys.emplace_back(key);
    }
    if (field.merge) out["x-kubernetes-patch-strategy"] = "merge";
    if (!field.merge_key.empty()) out["x-kubernetes-patch-merge-key"] = field.merge_key;
  }
  if (!field.description.empty()) out["description"] = field.description;
  return out;
}

json::object OpenapiSchemas::one(const Field& field) {
  switch (field.scalar) {
    case Scalar::text:
      return {{"type", "string"}};
    case Scalar::boolean:
      return {{"type", "boolean"}};
    case Scalar::int32:
      return {{"type", "integer"}, {"format", "int32"}};
    case Scalar::int64:
      return {{"type", "integer"}, {"format", "int64"}};
    case Scalar::number:
      return {{"type", "number"}, {"format", "double"}};
    case Scalar::bytes:
      return {{"type", "string"}, {"format", "byte"}};
    case Scalar::quantity:
      return either("Quantity", "string", "number", "");
    case Scalar::int_or_string:
      return either("IntOrString", "integer", "string", "int-or-string");
    case Scalar::time:
      return scalar("Time", "string", "date-time");
    case Scalar::micro_time:
      return scalar("MicroTime", "string", "date-time");
    case Scalar::duration:
      return scalar("Duration", "string", "");
    case Scalar::object:
      return field.type ? refer(name_of(*field.type)) : json::object{{"type", "object"}};
    case Scalar::any:
      break;
  }
  return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}

json::object OpenapiSchemas::refer(std::string_view name) const {
  return {{"$ref", reference_ + std::string(name)}};
}

json::object OpenapiSchemas::scalar(std::string_view name, std::string_view type,
                                    std::string_view format) {
  const std::string full = fmt::format("{}{}", kPrefix, name);
  json::object schema{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  schemas_[full] = std::move(schema);
  return refer(full);
}

json::object OpenapiSchemas::either(std::string_view name, std::string_view one_type,
                                    std::string_view other_type, std::string_view format) {
  const std::string full = fmt::format("{}{}", kPrefix, name);
  const json::array types{json::object{{"type", one_type}}, json::object{{"type", other_type}}};
  json::object schema{{"oneOf", types}};
  if (!format.empty()) schema["format"] = format;
  schemas_[full] = std::move(schema);
  return refer(full);
}

}  // namespace plim::local::apiserver
