// Sets of fields, as in managedFields, which records the owners of fields.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::apiserver {

// A tree of path elements in the notation of FieldsV1: "f:name" is a member of an object,
// `k:{"name":"c"}` a list element by its keys, `v:"x"` one by its value, "i:0" one by its index.
struct FieldSet {
  bool owned = false;  // the path itself is in the set, not only paths below it
  std::map<std::string, FieldSet, std::less<>> members = {};

  bool empty() const { return !owned && members.empty(); }

  const FieldSet* find(std::string_view element) const;
  bool operator==(const FieldSet&) const = default;
};

// {"f:spec":{"f:replicas":{}}}. Code::bad_request for anything else.
Result<FieldSet> parse_fields_v1(const json::value& fields);
json::object to_fields_v1(const FieldSet& set);

FieldSet unite(FieldSet a, const FieldSet& b);
FieldSet subtract(FieldSet a, const FieldSet& b);  // the paths that are only in a
FieldSet intersect(FieldSet a, const FieldSet& b);

// Every path of the set as in messages: `.spec.containers[name="c"].image`.
std::vector<std::string> paths_of(const FieldSet& set);

}  // namespace plim::local::apiserver
