#include "net/rpc/status.hpp"

#include <array>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

namespace plim::net {
namespace {

struct Row {
  std::string_view name;
  Code code;
};

// In the order of RpcCode, whose numbers are those of the protocol.
constexpr std::array kTable{
    Row{"OK", Code::unknown},
    Row{"CANCELLED", Code::cancelled},
    Row{"UNKNOWN", Code::unknown},
    Row{"INVALID_ARGUMENT", Code::bad_request},
    Row{"DEADLINE_EXCEEDED", Code::timeout},
    Row{"NOT_FOUND", Code::not_found},
    Row{"ALREADY_EXISTS", Code::already_exists},
    Row{"PERMISSION_DENIED", Code::forbidden},
    Row{"RESOURCE_EXHAUSTED", Code::too_many_requests},
    Row{"FAILED_PRECONDITION", Code::bad_request},
    Row{"ABORTED", Code::conflict},
    Row{"OUT_OF_RANGE", Code::bad_request},
    Row{"UNIMPLEMENTED", Code::unimplemented},
    Row{"INTERNAL", Code::internal},
    Row{"UNAVAILABLE", Code::unavailable},
    Row{"DATA_LOSS", Code::internal},
    Row{"UNAUTHENTICATED", Code::unauthorized},
};
static_assert(kTable.size() == static_cast<std::size_t>(RpcCode::unauthenticated) + 1);

const Row& row(RpcCode code) {
  return kTable[static_cast<std::size_t>(code)];
}

}  // namespace

Error RpcStatus::to_error() const {
  PLIM_ASSERT(!ok());
  return fail(row(code).code, message.empty() ? fmt::format("rpc failed: {}", row(code).name)
                                              : fmt::format("{} ({})", message, row(code).name));
}

namespace rpc {

// As in gRPC's "HTTP to gRPC Status Code Mapping".
RpcCode code_from_http_status(int status) {
  switch (status) {
    case 400:
      return RpcCode::internal;
    case 401:
      return RpcCode::unauthenticated;
    case 403:
      return RpcCode::permission_denied;
    case 404:
      return RpcCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return RpcCode::unavailable;
    default:
      return RpcCode::unknown;
  }
}

RpcCode code_from_reset(std::uint32_t h2_error) {
  switch (h2_error) {
    case NGHTTP2_CANCEL:
      return RpcCode::cancelled;
    case NGHTTP2_REFUSED_STREAM:
      return RpcCode::unavailable;
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return RpcCode::resource_exhausted;
    case NGHTTP2_INADEQUATE_SECURITY:
      return RpcCode::permission_denied;
    default:
      return RpcCode::internal;
  }
}

RpcCode code_from_number(int number) {
  if (number < 0 || number >= static_cast<int>(kTable.size())) return RpcCode::unknown;
  return static_cast<RpcCode>(number);
}

std::string_view code_name(RpcCode code) {
  return row(code).name;
}

}  // namespace rpc
}  // namespace plim::net
