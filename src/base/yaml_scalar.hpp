// What an unquoted YAML scalar means to kubectl (go-yaml v2).
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim {

// Text, unless it reads as null, a boolean or a number. Refuses numbers that JSON does not have.
Result<json::value> resolve_plain_scalar(std::string_view text);
// With an explicit tag of YAML's own, "int" for !!int; tags we do not know leave the text.
Result<json::value> resolve_tagged_scalar(std::string_view tag, std::string_view text);
// Whether some reader, of YAML 1.1 or 1.2, would take the unquoted text for something else.
bool is_ambiguous_scalar(std::string_view text);

}  // namespace plim
