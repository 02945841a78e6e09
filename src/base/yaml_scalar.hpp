// The meaning of unquoted YAML scalars in kubectl (go-yaml v2).
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim {

// A string, unless it is null, a boolean or a number. Rejects numbers that JSON does not have.
Result<json::value> resolve_plain_scalar(std::string_view text);
// With an explicit tag of YAML, "int" for !!int; unknown tags give a string.
Result<json::value> resolve_tagged_scalar(std::string_view tag, std::string_view text);
// Whether a YAML 1.1 or 1.2 parser would read the unquoted text as another type.
bool is_ambiguous_scalar(std::string_view text);

}  // namespace plim
