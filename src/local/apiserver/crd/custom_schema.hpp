// The schema of a custom resource: the structural part of OpenAPI v3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/regex.hpp"
#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

struct CustomSchema {
  std::string type = {};  // "" for any
  std::map<std::string, std::unique_ptr<CustomSchema>, std::less<>> properties = {};
  std::unique_ptr<CustomSchema> items = {};
  std::unique_ptr<CustomSchema> values = {};  // of members that are not in properties
  bool keeps_unknown = false;
  bool int_or_string = false;
  bool embedded = false;  // an object with apiVersion, kind and metadata of its own
  bool nullable = false;
  std::optional<json::value> fallback = {};

  std::vector<std::string> required = {};
  std::vector<json::value> choices = {};
  std::string format = {};
  std::string pattern_text = {};
  std::optional<Regex> pattern = {};
  std::optional<double> minimum = {}, maximum = {}, multiple_of = {};
  bool above_minimum = false, below_maximum = false;  // exclude the bound itself
  std::optional<std::int64_t> min_length = {}, max_length = {};
  std::optional<std::int64_t> min_items = {}, max_items = {};
  std::optional<std::int64_t> min_members = {}, max_members = {};
  std::string list_type = {};  // atomic, set or map
  std::vector<std::string> list_keys = {};
};

using CustomSchemaPtr = std::shared_ptr<const CustomSchema>;

struct SchemaReading {
  CustomSchemaPtr schema = {};
  std::vector<Cause> causes = {};         // why it is not a structural schema
  std::vector<std::string> ignored = {};  // fields with rules that are stored but not evaluated
};

// `field` is the path of the schema, for causes.
SchemaReading read_schema(const json::value& schema, const std::string& field);

// Removes unknown fields and notes them; removes nulls that are not allowed.
void prune(const CustomSchema& schema, json::value& object, FieldMistakes& mistakes);
// The same for a part of an object, which has no metadata.
void prune_inside(const CustomSchema& schema, json::value& value, FieldMistakes& mistakes);
void fill_in(const CustomSchema& schema, json::value& object);
std::vector<Cause> check(const CustomSchema& schema, const json::value& object);

}  // namespace plim::local::apiserver
