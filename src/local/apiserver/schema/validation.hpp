// What the server refuses although it is well-formed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver {

// One entry of a Status' details.causes.
struct Cause {
  std::string reason;   // "FieldValueRequired"
  std::string message;  // "Required value"
  std::string field;    // "spec.containers[0].image"
};

// `before`: the stored object on updates, null on creates. Names are checked by the kind's rules,
// then labels, annotations, owner references and what the kind itself demands, immutable fields
// included. Empty: fine.
std::vector<Cause> validate(std::string_view group, std::string_view kind,
                            const json::value& object, const json::value* before);

// Upstream's text for a 422: `Pod "x" is invalid: spec.containers: Required value`.
std::string invalid_message(std::string_view group, std::string_view kind, std::string_view name,
                            const std::vector<Cause>& causes);

}  // namespace plim::local::apiserver
