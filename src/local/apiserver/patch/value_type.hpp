// How one value of an object is owned and merged in server-side apply: atomic, member by member,
// or element by element. Read from the schema; without one, lists are atomic.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/patch/field_set.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

class ValueType {
 public:
  enum class Kind {
    whole,   // a scalar, or an object or list with one owner
    object,  // named fields
    map,     // any keys, all values of one type
    set,     // a list of distinct scalars
    keyed,   // a list of objects with unique keys
    free,    // no schema: objects by member, everything else as a whole
  };

  // A whole object; null for a custom resource without a schema. Its metadata is always known.
  static ValueType root(const Type* type);

  // The kind for this value, which may differ from the schema.
  Kind kind_for(const json::value& value) const;
  bool knows(std::string_view member) const;  // false if the schema lacks it
  ValueType member(std::string_view name) const;
  ValueType element() const;  // of `set` and `keyed`
  // The path element of a list element, `k:{…}` or `v:…`. Code::bad_request if a key without a
  // default is missing.
  Result<std::string> path_element(const json::value& element) const;

 private:
  ValueType(Kind kind, const Field* field, const Type* type)
      : kind_(kind), field_(field), type_(type) {}

  static ValueType of(const Field& field);
  ValueType single() const;

  Kind kind_;
  const Field* field_ = nullptr;
  const Type* type_ = nullptr;
  bool root_ = false;
};

// All fields that `value` sets. Code::bad_request for unknown fields and for list elements without
// a key or with a duplicate one.
Result<FieldSet> fields_of(const ValueType& type, const json::value& value);
// The same for a stored value: never fails.
FieldSet fields_of_stored(const ValueType& type, const json::value& value);
// The fields that `after` has and `before` lacks or has with another value.
FieldSet changed_fields(const ValueType& type, const json::value& before, const json::value& after);

// Merges `configuration` into `live`.
json::value merge_typed(const ValueType& type, json::value live, const json::value& configuration);
// Removes the fields of `gone` that are not in `kept`. Removes an object of named fields with its
// last kept field, even if it has defaults; maps and lists lose only the named fields.
void prune_typed(const ValueType& type, json::value& value, const FieldSet& gone,
                 const FieldSet& kept);

}  // namespace plim::local::apiserver
