// Validates well-formed objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver {

// One entry of details.causes in a Status.
struct Cause {
  std::string reason;   // "FieldValueRequired"
  std::string message;  // "Required value"
  std::string field;    // "spec.containers[0].image"
};

// `before` is the stored object for updates, null for creations. Checks the name by the rules of
// the kind, then labels, annotations, owner references and the rules of the kind, including
// immutable fields. Empty if the object is valid.
std::vector<Cause> validate(std::string_view group, std::string_view kind,
                            const json::value& object, const json::value* before);

// The same for the subresource resize of a pod.
std::vector<Cause> validate_resize(const json::value& pod, const json::value& before);

// Upstream's message of a 422: `Pod "x" is invalid: spec.containers: Required value`.
std::string invalid_message(std::string_view group, std::string_view kind, std::string_view name,
                            const std::vector<Cause>& causes);

}  // namespace plim::local::apiserver
