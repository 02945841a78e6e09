// Server-side apply: merges the configuration of a manager into an object.
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

// Merges `configuration` into `object` (empty: it is created). Removes what this manager applied
// before and no longer applies, unless another manager owns it too. Updates
// metadata.managedFields. `type` is null for a custom resource; its lists are atomic. If a value
// of another manager would change: Code::conflict with upstream's message, unless `force`;
// `causes` then gets one entry for each field.
Result<json::value> apply_server_side(const Type* type, json::value object,
                                      const json::value& configuration, const ApplyRequest& request,
                                      std::vector<Cause>* causes = nullptr);

}  // namespace plim::local::apiserver
