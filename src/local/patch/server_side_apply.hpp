// Server-side apply: an object, what one manager applied before, what it applies now.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "local/schema/schema.hpp"

namespace plim::local {

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
// another manager's value: Code::conflict with upstream's text, unless `force`.
Result<json::value> apply_server_side(const Type* type, json::value object,
                                      const json::value& configuration,
                                      const ApplyRequest& request);

}  // namespace plim::local
