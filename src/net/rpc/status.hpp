// Maps the ends of calls in the layers below gRPC to codes.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/rpc.hpp"

namespace plim::net::rpc {

RpcCode code_from_http_status(int status);
RpcCode code_from_reset(std::uint32_t h2_error);  // the error code of an HTTP/2 RST_STREAM
RpcCode code_from_number(int number);             // of a grpc-status header
std::string_view code_name(RpcCode code);         // gRPC's spelling: "NOT_FOUND"

}  // namespace plim::net::rpc
