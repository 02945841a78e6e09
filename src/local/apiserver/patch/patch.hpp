// The patch types of PATCH requests. Pure functions: object in, object out.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// RFC 6902. Code::bad_request if the document is not a patch; Code::invalid if it does not apply or
// a `test` fails. At most 10,000 operations; copies may add at most 3 MiB.
Result<json::value> apply_json_patch(json::value object, const json::value& patch);

// RFC 7396.
json::value apply_merge_patch(json::value object, const json::value& patch);

// Kubernetes' own: merges lists as `type` defines and supports $patch, $retainKeys,
// $setElementOrder and $deleteFromPrimitiveList. Code::bad_request if it does not match the type.
Result<json::value> apply_strategic_merge(const Type& type, json::value object,
                                          const json::value& patch);

}  // namespace plim::local::apiserver
