// Server-side apply: an object, what one manager applied before, what it applies now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

struct ApplyRequest {
  std::string manager;
  std::string api_version;  // of the configuration
  std::string subresource;  // "" for the object itself
  bool force = false;
  WallTime now = {};
};

// Merges `configuration` into `object` (an empty object: it is created), removes what this manager
// applied before and does not apply any more, unless another manager owns it too, and keeps
// metadata.managedFields. `type` null: a custom resource, its lists are atomic. Conflicts with
// another manager's value: Code::conflict with upstream's text, unless `force`; `causes` then gets
// one entry for each field.
Result<json::value> apply_server_side(const Type* type, json::value object,
                                      const json::value& configuration, const ApplyRequest& request,
                                      std::vector<Cause>* causes = nullptr);

}  // namespace plim::local::apiserver
