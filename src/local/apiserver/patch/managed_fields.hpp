// metadata.managedFields: who owns which fields of an object.
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

// Entries that nobody can read are left out: they own nothing.
std::vector<FieldManager> managers_of(const json::value& object);
// Appliers first, then by time and name; managers that own nothing are dropped.
void set_managers(json::value& object, std::vector<FieldManager> managers);

// Without what the server sets or what only names the object.
FieldSet without_server_fields(FieldSet fields);

struct PlainUpdate {
  std::string manager;
  std::string api_version;
  std::string subresource = {};
  WallTime now = {};
};

// Records a write that was no apply: what differs between `before` (empty on a create) and `after`
// belongs to the writer now and to nobody else. `after` may bring its own managedFields; without
// any it inherits those of `before`, and the single entry {} clears them.
void track_update(const Type* type, const json::value& before, json::value& after,
                  const PlainUpdate& request);

}  // namespace plim::local::apiserver
