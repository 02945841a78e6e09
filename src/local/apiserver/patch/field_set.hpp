// Sets of fields, as managedFields records them: who set what of an object.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::apiserver {

// A tree of path elements in the spelling of FieldsV1: "f:name" is a member of an object,
// `k:{"name":"c"}` an element of a list by its keys, `v:"x"` one by its value, "i:0" by its place.
struct FieldSet {
  bool owned = false;  // this very path belongs to the set, not only some below it
  std::map<std::string, FieldSet, std::less<>> members = {};

  bool empty() const { return !owned && members.empty(); }

  const FieldSet* find(std::string_view element) const;
  bool operator==(const FieldSet&) const = default;
};

// {"f:spec":{"f:replicas":{}}}. Code::bad_request for anything that is no such tree.
Result<FieldSet> parse_fields_v1(const json::value& fields);
json::object to_fields_v1(const FieldSet& set);

FieldSet unite(FieldSet a, const FieldSet& b);
FieldSet subtract(FieldSet a, const FieldSet& b);  // what is only in a
FieldSet intersect(FieldSet a, const FieldSet& b);

// Every path of the set as messages spell it: `.spec.containers[name="c"].image`.
std::vector<std::string> paths_of(const FieldSet& set);

}  // namespace plim::local::apiserver
