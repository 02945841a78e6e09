// As much OpenAPI as clients need to send their requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/api/kinds.hpp"

namespace plim::local {

// Version 2 in protobuf: a document that says its version and nothing else. It satisfies clients
// that insist on downloading one before they apply.
std::string openapi_v2();
inline constexpr std::string_view kOpenapiV2Type =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

json::value openapi_v3_index(const Kinds& kinds);
// Of "api/v1" or "apis/G/V": each kind's PATCH with its parameters, by which clients learn that the
// server validates fields and offers dry runs.
std::optional<json::value> openapi_v3(const Kinds& kinds, std::string_view group_version);

}  // namespace plim::local
