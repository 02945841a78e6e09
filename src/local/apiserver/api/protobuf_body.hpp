// Decodes protobuf bodies, as Go clients send them, into the tree that JSON would give, using the
// type tables.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// The start of the body: four magic bytes, then a message that names the kind.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view object;  // a part of the body
};

// Code::bad_request for anything truncated or malformed.
Result<ProtobufEnvelope> open_protobuf(std::string_view body);
// Skips unknown field numbers. Does not check values further: conform() does that.
Result<json::value> decode_protobuf(const Type& type, std::string_view message);

}  // namespace plim::local::apiserver
