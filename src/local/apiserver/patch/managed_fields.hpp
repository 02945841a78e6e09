// metadata.managedFields: which manager owns which fields of an object.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/apiserver/patch/field_set.hpp"
#include "local/apiserver/patch/value_type.hpp"

namespace plim::local::apiserver {

struct FieldManager {
  std::string name;
  std::string operation;  // Apply or Update
  std::string api_version;
  std::string subresource = {};
  std::string time = {};
  FieldSet fields = {};
};

// Skips entries that cannot be parsed: they own nothing.
std::vector<FieldManager> managers_of(const json::value& object);
// Sorts appliers first, then by time and name; drops managers that own nothing.
void set_managers(json::value& object, std::vector<FieldManager> managers);

// Removes fields that the server sets or that only identify the object.
FieldSet without_server_fields(FieldSet fields);

struct PlainUpdate {
  std::string manager;
  std::string api_version;
  std::string subresource = {};
  WallTime now = {};
};

// Records a write other than an apply: the writer becomes the only owner of everything that differs
// between `before` (empty for a creation) and `after`. If `after` contains no managedFields, it
// inherits those of `before`. The single entry {} clears them.
void track_update(const Type* type, const json::value& before, json::value& after,
                  const PlainUpdate& request);

}  // namespace plim::local::apiserver
