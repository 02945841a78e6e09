#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
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
    constexpr kube::AnyPath kForbidden[] = {"JSONSchemaProps.$ref",
                                            "JSONSchemaProps.$schema",
                                            "JSONSchemaProps.definitions",
                                            "JSONSchemaProps.dependencies",
                                            "JSONSchemaProps.patternProperties",
                                            "JSONSchemaProps.id",
                                            "JSONSchemaProps.additionalItems"};
    for (kube::AnyPath path : kForbidden)
      if (kube::find(source, path))
        forbid(fmt::format("{}.{}", field, path.key()),
               fmt::format("{} is not supported", path.key()));
    if (kube::find(source, "JSONSchemaProps.$ref")) return out;
    constexpr kube::AnyPath kIgnored[] = {"JSONSchemaProps.allOf", "JSONSchemaProps.anyOf",
                                          "JSONSchemaProps.oneOf", "JSONSchemaProps.not",
                                          "JSONSchemaProps.x-kubernetes-validations"};
    for (kube::AnyPath path : kIgnored)
      if (kube::find(source, path) &&
          !kube::bool_at(source, "JSONSchemaProps.x-kubernetes-int-or-string"))
        reading.ignored.push_back(fmt::format("{}.{}", field, path.key()));
    read_shape(source, field, *out);
    read_limits(source, field, *out);
    if (const json::value* fallback = kube::find(source, "JSONSchemaProps.default")) {
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
    out.type = kube::text_at(source, "JSONSchemaProps.type");
    out.keeps_unknown =
        kube::bool_at(source, "JSONSchemaProps.x-kubernetes-preserve-unknown-fields");
    out.int_or_string = kube::bool_at(source, "JSONSchemaProps.x-kubernetes-int-or-string");
    out.embedded = kube::bool_at(source, "JSONSchemaProps.x-kubernetes-embedded-resource");
    out.nullable = kube::bool_at(source, "JSONSchemaProps.nullable");
    if (out.type.empty() && !out.int_or_string && !out.keeps_unknown)
      require(field + ".type", "must not be empty for specified object fields");
    if (!out.type.empty() && std::find(kTypes.begin(), kTypes.end(), out.type) == kTypes.end())
      choose(field + ".type", out.type,
             R"("array", "boolean", "integer", "number", "object", "string")");
    if (const json::value* properties = kube::find(source, "JSONSchemaProps.properties");
        properties && properties->is_object()) {
      for (const json::key_value_pair& property : properties->get_object())
        out.properties.emplace(
            property.key(), read(property.value(), fmt::format("{}.properties[{}]", field,
                                                               std::string_view(property.key()))));
    }
    read_values(source, field, out);
    if (const json::value* items = kube::find(source, "JSONSchemaProps.items"))
      out.items = read(*items, field + ".items");
    else if (out.type == "array" && !out.keeps_unknown)
      require(field + ".items", "must be specified");
    read_list_type(source, field, out);
  }

  void read_values(const json::value& source, const std::string& field, CustomSchema& out) {
    const json::value* values = kube::find(source, "JSONSchemaProps.additionalProperties");
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
    out.list_type = kube::text_at(source, "JSONSchemaProps.x-kubernetes-list-type");
    if (const json::value* keys = kube::find(source, "JSONSchemaProps.x-kubernetes-list-map-keys");
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
    auto number = [&source](kube::AnyPath path) -> std::optional<double> {
      const json::value* found = kube::find(source, path);
      if (!found || !found->is_number()) return std::nullopt;
      return found->to_number<double>();
    };
    out.minimum = number("JSONSchemaProps.minimum");
    out.maximum = number("JSONSchemaProps.maximum");
    out.multiple_of = number("JSONSchemaProps.multipleOf");
    out.above_minimum = kube::bool_at(source, "JSONSchemaProps.exclusiveMinimum");
    out.below_maximum = kube::bool_at(source, "JSONSchemaProps.exclusiveMaximum");
    out.min_length = kube::int_at(source, "JSONSchemaProps.minLength");
    out.max_length = kube::int_at(source, "JSONSchemaProps.maxLength");
    out.min_items = kube::int_at(source, "JSONSchemaProps.minItems");
    out.max_items = kube::int_at(source, "JSONSchemaProps.maxItems");
    out.min_members = kube::int_at(source, "JSONSchemaProps.minProperties");
    out.max_members = kube::int_at(source, "JSONSchemaProps.maxProperties");
    if (kube::bool_at(source, "JSONSchemaProps.uniqueItems"))
      forbid(field + ".uniqueItems",
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    out.format = kube::text_at(source, "JSONSchemaProps.format");
    if (const json::value* choices = kube::find(source, "JSONSchemaProps.enum");
        choices && choices->is_array())
      out.choices.assign(choices->get_array().begin(), choices->get_array().end());
    if (const json::value* required = kube::find(source, "JSONSchemaProps.required");
        required && required->is_array()) {
      for (const json::value& name : required->get_array())
        if (name.is_string()) out.required.emplace_back(name.get_string());
    }
    out.pattern_text = kube::text_at(source, "JSONSchemaProps.pattern");
    if (out.pattern_text.empty()) return;
    if (auto pattern = Regex::compile(out.pattern_text))
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
