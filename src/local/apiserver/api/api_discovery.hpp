// Discovery: the kinds that the server serves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

json::value api_versions();                                                   // /api
json::value group_list(const Kinds& kinds);                                   // /apis
std::optional<json::value> group(const Kinds& kinds, std::string_view name);  // /apis/G
// /api/v1, /apis/G/V
json::value resource_list(const Kinds& kinds, std::string_view group, std::string_view version);

// All in one document: the core group (/api) or all others (/apis). `version` is v2 or v2beta1.
json::value aggregated_discovery(const Kinds& kinds, bool core, std::string_view version);

}  // namespace plim::local::apiserver
