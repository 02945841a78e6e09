// Bodies in protobuf, as Go clients send them: read by the table of types into the tree that JSON
// would have given.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// What the bytes begin with: four magic ones, then a message that says what the object is.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view object;  // inside the body
};

// Code::bad_request for anything truncated or malformed.
Result<ProtobufEnvelope> open_protobuf(std::string_view body);
// Unknown field numbers are skipped. Values are not checked further: conform() does that.
Result<json::value> decode_protobuf(const Type& type, std::string_view message);

}  // namespace plim::local::apiserver
