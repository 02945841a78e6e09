// The schema tables as OpenAPI, for `kubectl explain` and for the validation of old clients.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// Collects the types of kinds and all types that they refer to. `reference` is the prefix of names
// in $ref: "#/components/schemas/" or "#/definitions/".
class OpenapiSchemas {
 public:
  explicit OpenapiSchemas(std::string_view reference) : reference_(reference) {}

  // Skips kinds without a type.
  void add(const Kind& kind);

  json::object take() && { return std::move(schemas_); }

 private:
  // The name of its schema, which is created if it does not exist.
  std::string name_of(const Type& type);
  json::object properties_of(const Type& type);
  json::object schema_of(const Field& field);
  json::object one(const Field& field);
  json::object refer(std::string_view name) const;
  // A scalar type with a name of its own, as in upstream.
  json::object scalar(std::string_view name, std::string_view type, std::string_view format);
  // A type with two alternatives, which clients show by its name.
  json::object either(std::string_view name, std::string_view one_type, std::string_view other_type,
                      std::string_view format);

  std::string reference_;
  std::map<const Type*, std::string> names_;
  json::object schemas_;
};

}  // namespace plim::local::apiserver
