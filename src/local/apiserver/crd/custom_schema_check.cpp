// Validates objects by the schema of a custom resource, with upstream's messages.
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json_kind.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "local/apiserver/crd/custom_schema.hpp"

namespace plim::local::apiserver {
namespace {

bool is_integer(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() && std::trunc(value.get_double()) == value.get_double();
}

std::string_view type_of(const json::value& value) {
  return is_integer(value) ? "integer" : json_kind(value);
}

bool has_type(const CustomSchema& schema, const json::value& value) {
  if (value.is_null()) return schema.nullable;
  if (schema.int_or_string) return value.is_string() || is_integer(value);
  const std::string_view type = type_of(value);
  return schema.type.empty() || type == schema.type ||
         (schema.type == "number" && type == "integer");
}

// "2024-02-03"
bool is_date(std::string_view text) {
  return text.size() == 10 && parse_rfc3339(fmt::format("{}T00:00:00Z", text));
}

// True if the number is an integer that the format can hold; without a format that is int64.
bool fits_format(std::string_view format, const json::value& value) {
  if (!is_integer(value)) return false;
  const double number = value.to_number<double>();
  if (format == "int32")
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  if (format == "uint32") return number >= 0 && number <= std::numeric_limits<std::uint32_t>::max();
  if (format == "uint64") return number >= 0 && number < 0x1p64;
  return value.is_int64() || (number >= -0x1p63 && number < 0x1p63 && !value.is_uint64());
}

class SchemaChecker {
 public:
  void check(const CustomSchema& schema, const json::value& value, const std::string& path) {
    if (!has_type(schema, value)) {
      const std::string wanted = schema.int_or_string ? "integer,string" : schema.type;
      add("FieldValueTypeInvalid", path,
          fmt::format(R"(Invalid value: "{0}": {1} in body must be of type {2}: "{0}")",
                      type_of(value), path, wanted));
      if (value.is_number()) check_integer(schema, value, path);
      return check_choices(schema, value, path);
    }
    check_choices(schema, value, path);
    if (value.is_number()) check_number(schema, value, path);
    if (const json::string* text = value.if_string()) check_text(schema, *text, path);
    if (const json::array* array = value.if_array()) check_array(schema, *array, path);
    if (const json::object* object = value.if_object()) check_object(schema, *object, path);
  }

  std::vector<Cause> causes;

 private:
  void add(std::string reason, const std::string& path, std::string message) {
    causes.push_back({.reason = std::move(reason), .message = std::move(message), .field = path});
  }

  void refuse(const std::string& path, std::string_view value, std::string_view demand) {
    add("FieldValueInvalid", path,
        fmt::format("Invalid value: {}: {} in body should {}", value, path, demand));
  }

  void check_choices(const CustomSchema& schema, const json::value& value,
                     const std::string& path) {
    if (schema.choices.empty()) return;
    std::string choices;
    for (const json::value& choice : schema.choices) {
      if (choice == value) return;
      choices += (choices.empty() ? "" : ", ") +
                 (choice.is_string() ? to_json(choice) : quote(to_json(choice)));
    }
    add("FieldValueNotSupported", path,
        fmt::format("Unsupported value: {}: supported values: {}", to_json(value), choices));
  }

  // Upstream does not name the field here.
  void check_integer(const CustomSchema& schema, const json::value& value,
                     const std::string& path) {
    if (schema.type != "integer" || fits_format(schema.format, value)) return;
    add("FieldValueInvalid", "<nil>",
        fmt::format(R"(Invalid value: "": Checked value must be of type integer {} in {})",
                    schema.format.empty() ? "(default format)" : "with format " + schema.format,
                    path));
  }

  void check_number(const CustomSchema& schema, const json::value& value, const std::string& path) {
    check_integer(schema, value, path);
    const double number = value.to_number<double>();
    const std::string shown = to_json(value);
    auto bound = [](double limit) { return to_json(json::value(limit)); };
    if (schema.minimum &&
        (number < *schema.minimum || (schema.above_minimum && number == *schema.minimum)))
      refuse(path, shown,
             fmt::format("be greater than {}{}", schema.above_minimum ? "" : "or equal to ",
                         bound(*schema.minimum)));
    if (schema.maximum &&
        (number > *schema.maximum || (schema.below_maximum && number == *schema.maximum)))
      refuse(path, shown,
             fmt::format("be less than {}{}", schema.below_maximum ? "" : "or equal to ",
                         bound(*schema.maximum)));
    if (schema.multiple_of && *schema.multiple_of > 0 &&
        std::fmod(number, *schema.multiple_of) != 0)
      refuse(path, shown, fmt::format("be a multiple of {}", bound(*schema.multiple_of)));
  }

  void check_text(const CustomSchema& schema, std::string_view text, const std::string& path) {
    const auto length = static_cast<std::int64_t>(count_characters(text));
    if (schema.min_length && length < *schema.min_length)
      refuse(path, quote(text), fmt::format("be at least {} chars long", *schema.min_length));
    if (schema.max_length && length > *schema.max_length)
      add("FieldValueTooLong", path,
          fmt::format("Too long: may not be more than {} bytes", *schema.max_length));
    if (schema.pattern && !schema.pattern->partial_match(text))
      refuse(path, quote(text), fmt::format("match '{}'", schema.pattern_text));
    const bool fits = (schema.format != "date-time" || parse_rfc3339(text)) &&
                      (schema.format != "date" || is_date(text)) &&
                      (schema.format != "byte" || base64_decode(text));
    if (!fits)
      add("FieldValueTypeInvalid", path,
          fmt::format("Invalid value: {0}: {1} in body must be of type {2}: {0}", quote(text), path,
                      schema.format));
  }

  void check_array(const CustomSchema& schema, const json::array& array, const std::string& path) {
    const auto size = static_cast<std::int64_t>(array.size());
    if (schema.min_items && size < *schema.min_items)
      refuse(path, fmt::format("{}", size),
             fmt::format("have at least {} items", *schema.min_items));
    if (schema.max_items && size > *schema.max_items)
      add("FieldValueTooMany", path,
          fmt::format("Too many: {}: must have at most {} items", size, *schema.max_items));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const std::string here = fmt::format("{}[{}]", path, i);
      const std::string identity = identity_of(schema, array[i]);
      if (!identity.empty() && !seen.insert(identity).second)
        add("FieldValueDuplicate", here, fmt::format("Duplicate value: {}", identity));
      if (schema.items) check(*schema.items, array[i], here);
    }
  }

  // The text that must be unique in the list; "" if duplicates are allowed.
  static std::string identity_of(const CustomSchema& schema, const json::value& element) {
    if (schema.list_type == "set") return to_json(element);
    if (schema.list_type != "map") return "";
    json::object keys;
    for (const std::string& key : schema.list_keys)
      if (const json::value* found = find(element, {key})) keys[key] = *found;
    return to_json(keys);
  }

  void check_object(const CustomSchema& schema, const json::object& object,
                    const std::string& path) {
    auto below = [&path](std::string_view name) {
      return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    };
    const auto size = static_cast<std::int64_t>(object.size());
    if (schema.min_members && size < *schema.min_members)
      refuse(path, fmt::format("{}", size),
             fmt::format("have at least {} properties", *schema.min_members));
    if (schema.max_members && size > *schema.max_members)
      add("FieldValueTooMany", path,
          fmt::format("Too many: {}: must have at most {} items", size, *schema.max_members));
    if (schema.embedded)
      for (const char* name : {"apiVersion", "kind"})
        if (!object.contains(name)) add("FieldValueRequired", below(name), "Required value");
    for (const std::string& name : schema.required)
      if (!object.contains(name)) add("FieldValueRequired", below(name), "Required value");
    for (const json::key_value_pair& member : object) {
      auto found = schema.properties.find(std::string_view(member.key()));
      if (found != schema.properties.end())
        check(*found->second, member.value(), below(member.key()));
      else if (schema.values)
        check(*schema.values, member.value(), below(member.key()));
    }
  }
};

}  // namespace

std::vector<Cause> check(const CustomSchema& schema, const json::value& object) {
  SchemaChecker checker;
  checker.check(schema, object, "");
  return std::move(checker.causes);
}

}  // namespace plim::local::apiserver
