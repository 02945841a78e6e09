// Decodes what a client sent: checks it against its type and brings it into canonical form.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// Mistakes that strict decoding rejects and warnings name, with upstream's messages:
// `unknown field "spec.foo"`, `duplicate field "spec.replicas"`.
using FieldMistakes = std::vector<std::string>;

// Parses a body and notes duplicate keys, which a tree does not show. Fails with Code::bad_request.
Result<json::value> parse_body(std::string_view text, FieldMistakes& mistakes);

// Removes nulls and unknown fields (noting the latter), checks the types of all values, and writes
// quantities and times in canonical form. Adds fields that Go always prints. Code::bad_request with
// upstream's message and the path of the first wrong value.
Result<void> conform(const Type& type, json::value& object, FieldMistakes& mistakes);

}  // namespace plim::local::apiserver
