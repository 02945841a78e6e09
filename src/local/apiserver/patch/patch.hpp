// The four ways to change an object by PATCH. Pure functions: object in, object out.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// RFC 6902. A document that is no patch: Code::bad_request; one that does not fit, and a `test`
// that fails: Code::invalid. At most 10,000 operations; copies may add 3 MiB at most.
Result<json::value> apply_json_patch(json::value object, const json::value& patch);

// RFC 7396.
json::value apply_merge_patch(json::value object, const json::value& patch);

// Kubernetes' own: lists merge as `type` says; $patch, $retainKeys, $setElementOrder and
// $deleteFromPrimitiveList are obeyed. Code::bad_request when the patch does not fit the type.
Result<json::value> apply_strategic_merge(const Type& type, json::value object,
                                          const json::value& patch);

}  // namespace plim::local::apiserver
