// From what a client sent to what is stored: checked against its type and in canonical form.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// What strict decoding refuses and warnings name, as upstream words it:
// `unknown field "spec.foo"`, `duplicate field "spec.replicas"`.
using FieldMistakes = std::vector<std::string>;

// Parses a body and notes duplicate keys, which a tree no longer shows. Code::bad_request.
Result<json::value> parse_body(std::string_view text, FieldMistakes& mistakes);

// Removes nulls and unknown fields (noted), checks that every value has its type, and writes
// quantities and times in canonical form. Fields that Go always prints are added. Code::bad_request
// with upstream's wording and the path of the first wrong value.
Result<void> conform(const Type& type, json::value& object, FieldMistakes& mistakes);

}  // namespace plim::local::apiserver
