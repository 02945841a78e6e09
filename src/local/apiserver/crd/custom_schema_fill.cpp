// Prunes and defaults objects by the schema of a custom resource.
#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/crd/custom_schema.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {
namespace {

// Fields that every object has, whatever its schema is.
bool is_part_of_every_object(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// The schema of a member; null if it has none, then `keeps_unknown` decides.
const CustomSchema* member_schema(const CustomSchema& schema, std::string_view name) {
  auto found = schema.properties.find(name);
  return found == schema.properties.end() ? schema.values.get() : found->second.get();
}

// For an embedded object. Other mistakes are left to validation.
void prune_metadata(json::value& metadata, const std::string& path, FieldMistakes& mistakes) {
  FieldMistakes inside;
  if (!conform(object_meta_type(), metadata, inside)) return;
  constexpr std::string_view kStart = "unknown field \"";
  for (const std::string& mistake : inside)
    mistakes.push_back(mistake.starts_with(kStart)
                           ? fmt::format("{}{}.{}", kStart, path, mistake.substr(kStart.size()))
                           : mistake);
}

void prune_value(const CustomSchema& schema, json::value& value, const std::string& path,
                 bool is_object, FieldMistakes& mistakes) {
  if (json::array* array = value.if_array()) {
    if (!schema.items) return;
    for (std::size_t i = 0; i < array->size(); ++i)
      prune_value(*schema.items, (*array)[i], fmt::format("{}[{}]", path, i),
                  schema.items->embedded, mistakes);
    return;
  }
  json::object* object = value.if_object();
  if (!object) return;
  for (auto member = object->begin(); member != object->end();) {
    const std::string_view name = member->key();
    const std::string here = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    const CustomSchema* inner = member_schema(schema, name);
    bool keeps = inner || schema.keeps_unknown;
    if (is_object && is_part_of_every_object(name)) {
      keeps = true;
      inner = nullptr;
    }
    const bool is_gone = keeps && inner && member->value().is_null() && !inner->nullable;
    if (!keeps) mistakes.push_back(fmt::format("unknown field {}", quote(here)));
    if (!keeps || is_gone) {
      member = object->stable_erase(member);
      continue;
    }
    if (inner) prune_value(*inner, member->value(), here, inner->embedded, mistakes);
    if (is_object && !path.empty() && name == "metadata")
      prune_metadata(member->value(), here, mistakes);
    ++member;
  }
}

}  // namespace

void prune(const CustomSchema& schema, json::value& object, FieldMistakes& mistakes) {
  prune_value(schema, object, "", true, mistakes);
}

void prune_inside(const CustomSchema& schema, json::value& value, FieldMistakes& mistakes) {
  prune_value(schema, value, "", schema.embedded, mistakes);
}

void fill_in(const CustomSchema& schema, json::value& value) {
  if (json::array* array = value.if_array()) {
    if (!schema.items) return;
    for (json::value& element : *array) fill_in(*schema.items, element);
    return;
  }
  json::object* object = value.if_object();
  if (!object) return;
  for (const auto& [name, property] : schema.properties) {
    json::value* found = object->if_contains(name);
    if (!found && property->fallback) found = &((*object)[name] = *property->fallback);
    if (found) fill_in(*property, *found);
  }
  if (!schema.values) return;
  for (json::key_value_pair& member : *object)
    if (!schema.properties.contains(member.key())) fill_in(*schema.values, member.value());
}

}  // namespace plim::local::apiserver
