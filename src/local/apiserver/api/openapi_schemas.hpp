// The schema table as OpenAPI tells it: what `kubectl explain` shows and old clients check against.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// Collects the types of kinds and all that these refer to. `reference` is put before names in $ref:
// "#/components/schemas/" or "#/definitions/".
class OpenapiSchemas {
 public:
  explicit OpenapiSchemas(std::string_view reference) : reference_(reference) {}

  // Kinds without a type of ours are left out.
  void add(const Kind& kind);

  json::object take() && { return std::move(schemas_); }

 private:
  // The name of its schema, which is made if it is not there yet.
  std::string name_of(const Type& type);
  json::object properties_of(const Type& type);
  json::object schema_of(const Field& field);
  json::object one(const Field& field);
  json::object refer(std::string_view name) const;
  // A type of one value that has a name of its own, as upstream's have.
  json::object scalar(std::string_view name, std::string_view type, std::string_view format);
  // One that may be of either type, which clients show by its name.
  json::object either(std::string_view name, std::string_view one_type, std::string_view other_type,
                      std::string_view format);

  std::string reference_;
  std::map<const Type*, std::string> names_;
  json::object schemas_;
};

}  // namespace plim::local::apiserver
