// How one value of an object is owned and merged under server-side apply: as a whole, member by
// member, or element by element. Read from the schema; without one lists count as a whole.
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
    whole,   // a scalar, or an object or list that has one owner
    object,  // named fields
    map,     // any keys, all values of one type
    set,     // a list of distinct scalars
    keyed,   // a list of objects told apart by keys
    free,    // no schema: objects by member, everything else as a whole
  };

  // A whole object; null: a custom resource without a schema. Its metadata is always known.
  static ValueType root(const Type* type);

  // What it is for this very value, which may not be what the schema says.
  Kind kind_for(const json::value& value) const;
  bool knows(std::string_view member) const;  // false: the schema lacks it
  ValueType member(std::string_view name) const;
  ValueType element() const;  // of `set` and `keyed`
  // The path element of one element, `k:{…}` or `v:…`. Code::bad_request when a key is missing that
  // has no default.
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

// All fields that `value` sets. Code::bad_request for fields the schema lacks and for elements
// without their key or twice the same.
Result<FieldSet> fields_of(const ValueType& type, const json::value& value);
// The same for what is stored already: nothing is refused.
FieldSet fields_of_stored(const ValueType& type, const json::value& value);
// The fields that `after` has and `before` has not, or has with another value.
FieldSet changed_fields(const ValueType& type, const json::value& before, const json::value& after);

// `configuration` laid over `live`.
json::value merge_typed(const ValueType& type, json::value live, const json::value& configuration);
// Removes the fields of `gone` that are not in `kept`. An object of named fields goes with its last
// kept field, whatever defaults it still holds; maps and lists lose just what is named.
void prune_typed(const ValueType& type, json::value& value, const FieldSet& gone,
                 const FieldSet& kept);

}  // namespace plim::local::apiserver
