#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/crd/custom_schema.hpp"

namespace plim::local::apiserver {
namespace {

class Reader {
 public:
  std::unique_ptr<CustomSchema> read(const json::value& source, const std::string& field) {
    auto out = std::make_unique<CustomSchema>();
    if (!source.is_object()) {
      require(field, "a schema is an object");
      return out;
    }
    for (const char* name : {"$ref", "$schema", "definitions", "dependencies", "patternProperties",
                             "id", "additionalItems"})
      if (find(source, {name}))
        forbid(fmt::format("{}.{}", field, name), fmt::format("{} is not supported", name));
    if (find(source, {"$ref"})) return out;
    for (const char* name : {"allOf", "anyOf", "oneOf", "not", "x-kubernetes-validations"})
      if (find(source, {name}) && !bool_at(source, {"x-kubernetes-int-or-string"}))
        reading.ignored.push_back(fmt::format("{}.{}", field, name));
    read_shape(source, field, *out);
    read_limits(source, field, *out);
    if (const json::value* fallback = find(source, {"default"})) {
      check_default(*out, *fallback, field + ".default");
      out->fallback = *fallback;
    }
    return out;
  }

  // A default must itself match the schema.
  void check_default(const CustomSchema& schema, const json::value& fallback,
                     const std::string& field) {
    for (Cause& cause : check(schema, fallback)) {
      cause.field = field;
      reading.causes.push_back(std::move(cause));
    }
    json::value known = fallback;
    FieldMistakes unknown;
    prune_inside(schema, known, unknown);
    if (!unknown.empty())
      reading.causes.push_back(
          {.reason = "FieldValueInvalid",
           .message =
               fmt::format("Invalid value: {}: must not have unknown fields", to_json(fallback)),
           .field = field});
  }

  void require(const std::string& field, std::string_view why) {
    reading.causes.push_back({.reason = "FieldValueRequired",
                              .message = fmt::format("Required value: {}", why),
                              .field = field});
  }

  void forbid(const std::string& field, std::string_view why) {
    reading.causes.push_back({.reason = "FieldValueForbidden",
                              .message = fmt::format("Forbidden: {}", why),
                              .field = field});
  }

  void choose(const std::string& field, std::string_view value, std::string_view choices) {
    reading.causes.push_back({.reason = "FieldValueNotSupported",
                              .message = fmt::format("Unsupported value: {}: supported values: {}",
                                                     quote(value), choices),
                              .field = field});
  }

  void refuse(const std::string& field, std::string_view value, std::string_view why) {
    reading.causes.push_back({.reason = "FieldValueInvalid",
                              .message = fmt::format("Invalid value: {}: {}", quote(value), why),
                              .field = field});
  }

  SchemaReading reading;

 private:
  void read_shape(const json::value& source, const std::string& field, CustomSchema& out) {
    constexpr std::array<std::string_view, 6> kTypes{"object",  "array",  "string",
                                                     "integer", "number", "boolean"};
    out.type = text_at(source, {"type"});
    out.keeps_unknown = bool_at(source, {"x-kubernetes-preserve-unknown-fields"});
    out.int_or_string = bool_at(source, {"x-kubernetes-int-or-string"});
    out.embedded = bool_at(source, {"x-kubernetes-embedded-resource"});
    out.nullable = bool_at(source, {"nullable"});
    if (out.type.empty() && !out.int_or_string && !out.keeps_unknown)
      require(field + ".type", "must not be empty for specified object fields");
    if (!out.type.empty() && std::find(kTypes.begin(), kTypes.end(), out.type) == kTypes.end())
      choose(field + ".type", out.type,
             R"("array", "boolean", "integer", "number", "object", "string")");
    if (const json::value* properties = find(source, {"properties"});
        properties && properties->is_object()) {
      for (const json::key_value_pair& property : properties->get_object())
        out.properties.emplace(
            property.key(), read(property.value(), fmt::format("{}.properties[{}]", field,
                                                               std::string_view(property.key()))));
    }
    read_values(source, field, out);
    if (const json::value* items = find(source, {"items"}))
      out.items = read(*items, field + ".items");
    else if (out.type == "array" && !out.keeps_unknown)
      require(field + ".items", "must be specified");
    read_list_type(source, field, out);
  }

  void read_values(const json::value& source, const std::string& field, CustomSchema& out) {
    const json::value* values = find(source, {"additionalProperties"});
    if (!values) return;
    if (values->is_bool()) {
      if (!values->get_bool())
        forbid(field + ".additionalProperties", "additionalProperties cannot be set to false");
      out.keeps_unknown = out.keeps_unknown || values->get_bool();
      return;
    }
    if (!out.properties.empty())
      forbid(field + ".additionalProperties",
             "additionalProperties and properties are mutual exclusive");
    out.values = read(*values, field + ".additionalProperties");
  }

  void read_list_type(const json::value& source, const std::string& field, CustomSchema& out) {
    out.list_type = text_at(source, {"x-kubernetes-list-type"});
    if (const json::value* keys = find(source, {"x-kubernetes-list-map-keys"});
        keys && keys->is_array()) {
      for (const json::value& key : keys->get_array())
        if (key.is_string()) out.list_keys.emplace_back(key.get_string());
    }
    if (out.list_type.empty() || out.list_type == "atomic" || out.list_type == "set") return;
    if (out.list_type != "map")
      return choose(field + ".x-kubernetes-list-type", out.list_type, R"("atomic", "set", "map")");
    if (out.list_keys.empty())
      require(field + ".x-kubernetes-list-map-keys",
              "must not be empty if x-kubernetes-list-type is map");
    for (const std::string& key : out.list_keys) check_key(out, key, field);
  }

  // An element without its key could not be distinguished from others.
  void check_key(const CustomSchema& list, const std::string& key, const std::string& field) {
    const auto found = list.items ? list.items->properties.find(key) : list.properties.end();
    if (!list.items || found == list.items->properties.end())
      return refuse(field + ".x-kubernetes-list-map-keys", key, "must be a property of the items");
    const bool required =
        std::ranges::find(list.items->required, key) != list.items->required.end();
    if (!required && !found->second->fallback)
      require(fmt::format("{}.items.properties[{}].default", field, key),
              "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
              "required property");
  }

  void read_limits(const json::value& source, const std::string& field, CustomSchema& out) {
    auto number = [&source](std::string_view name) -> std::optional<double> {
      const json::value* found = find(source, {name});
      if (!found || !found->is_number()) return std::nullopt;
      return found->to_number<double>();
    };
    out.minimum = number("minimum");
    out.maximum = number("maximum");
    out.multiple_of = number("multipleOf");
    out.above_minimum = bool_at(source, {"exclusiveMinimum"});
    out.below_maximum = bool_at(source, {"exclusiveMaximum"});
    out.min_length = int_at(source, {"minLength"});
    out.max_length = int_at(source, {"maxLength"});
    out.min_items = int_at(source, {"minItems"});
    out.max_items = int_at(source, {"maxItems"});
    out.min_members = int_at(source, {"minProperties"});
    out.max_members = int_at(source, {"maxProperties"});
    if (bool_at(source, {"uniqueItems"}))
      forbid(field + ".uniqueItems",
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    out.format = text_at(source, {"format"});
    if (const json::value* choices = find(source, {"enum"}); choices && choices->is_array())
      out.choices.assign(choices->get_array().begin(), choices->get_array().end());
    if (const json::value* required = find(source, {"required"});
        required && required->is_array()) {
      for (const json::value& name : required->get_array())
        if (name.is_string()) out.required.emplace_back(name.get_string());
    }
    out.pattern_text = text_at(source, {"pattern"});
    if (out.pattern_text.empty()) return;
    if (auto pattern = Pattern::parse(out.pattern_text))
      out.pattern = std::move(*pattern);
    else
      refuse(field + ".pattern", out.pattern_text,
             "must be a valid regular expression, but isn't: " + pattern.error().message);
  }
};

}  // namespace

SchemaReading read_schema(const json::value& schema, const std::string& field) {
  Reader reader;
  auto root = reader.read(schema, field);
  if (root->type != "object")
    reader.refuse(field + ".type", root->type, "must be object at the root");
  if (auto metadata = root->properties.find("metadata"); metadata != root->properties.end())
    for (const auto& [name, property] : metadata->second->properties)
      if (name != "name" && name != "generateName") {
        reader.forbid(field + ".properties[metadata]",
                      "must not specify anything other than name and generateName, but metadata is "
                      "implicitly specified");
        break;
      }
  reader.reading.schema = std::move(root);
  return std::move(reader.reading);
}

}  // namespace plim::local::apiserver
