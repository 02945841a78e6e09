// One value that is neither object nor list: checked and in the form in which it is stored.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// What encoding/json calls the Go type: "string", "int32", "v1.PodSpec".
std::string go_type(const Field& field);
// The same with the list or map around it: "[]v1.Container", "map[string]string".
std::string go_shape(const Field& field);
// "string", "number", "bool", "array", "object", with the number itself where Go shows it.
std::string json_kind(const json::value& value, Scalar wanted);

// What became of a value.
enum class Fit {
  fits,        // `value` is in canonical form now
  wrong_type,  // the caller knows the path, and words the error
  unset,       // Go's zero time: as if nothing had been sent
};

// An error is worded as the Go type's own decoder does it. Not for Scalar::object.
Result<Fit> fit_scalar(Scalar scalar, json::value& value);

// What Go holds in a field that was not sent: "", 0, false; null for times.
json::value zero_scalar(Scalar scalar);
bool is_zero_scalar(Scalar scalar, const json::value& value);
// The same for a whole field: null, or an empty list, map, text and so on. Where Go has a pointer
// only null is nothing.
bool is_unset(const Field& field, const json::value& value);

}  // namespace plim::local::apiserver
