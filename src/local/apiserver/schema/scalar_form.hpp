// Checks a scalar value and brings it into the form in which it is stored.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// The Go type as encoding/json prints it: "string", "int32", "v1.PodSpec".
std::string go_type(const Field& field);
// The same with the surrounding list or map: "[]v1.Container", "map[string]string".
std::string go_shape(const Field& field);
// "string", "number", "bool", "array", "object", followed by the number itself if Go prints it.
std::string json_kind(const json::value& value, Scalar wanted);

// The result of checking a value.
enum class Fit {
  fits,        // `value` is now in canonical form
  wrong_type,  // the caller knows the path and writes the error
  unset,       // Go's zero time: treated as absent
};

// Errors have the message of the Go type's own decoder. Not for Scalar::object.
Result<Fit> fit_scalar(Scalar scalar, json::value& value);

// Go's value of a field that was not sent: "", 0, false; null for times.
json::value zero_scalar(Scalar scalar);
bool is_zero_scalar(Scalar scalar, const json::value& value);
// The same for a whole field: null, or an empty list, map, string and so on. If Go uses a pointer,
// only null is unset.
bool is_unset(const Field& field, const json::value& value);

}  // namespace plim::local::apiserver
