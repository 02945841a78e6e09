// As much OpenAPI as clients need to send requests and to explain kinds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// "api/v1" or "apis/G/V"
std::string openapi_path(std::string_view group, std::string_view version);

// Version 2, in protobuf.
std::string openapi_v2(const Kinds& kinds);
inline constexpr std::string_view kOpenapiV2Type =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

json::value openapi_v3_index(const Kinds& kinds);
bool has_openapi(const Kinds& kinds, std::string_view group_version);
// For "api/v1" or "apis/G/V": the PATCH of each kind with its parameters, which tell clients that
// the server supports field validation and dry runs, and the schemas of our own kinds.
std::optional<json::value> openapi_v3(const Kinds& kinds, std::string_view group_version);

}  // namespace plim::local::apiserver
