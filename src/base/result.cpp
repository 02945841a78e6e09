#include "base/result.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace plim {
namespace {

struct Row {
  Code code;
  std::string_view reason;
  int http;
  int exit;
  bool retryable;
};

// Exit codes of all commands: 1 failed, 2 unusable input, 3 exists, 4 not found, 5 timed out.
constexpr std::array kTable{
    Row{Code::unknown, "Unknown", 500, 1, false},
    Row{Code::bad_request, "BadRequest", 400, 2, false},
    Row{Code::unauthorized, "Unauthorized", 401, 1, false},
    Row{Code::forbidden, "Forbidden", 403, 1, false},
    Row{Code::not_found, "NotFound", 404, 4, false},
    Row{Code::method_not_allowed, "MethodNotAllowed", 405, 1, false},
    Row{Code::not_acceptable, "NotAcceptable", 406, 1, false},
    Row{Code::already_exists, "AlreadyExists", 409, 3, false},
    Row{Code::conflict, "Conflict", 409, 1, true},
    Row{Code::gone, "Gone", 410, 1, false},
    Row{Code::expired, "Expired", 410, 1, false},
    Row{Code::too_large, "RequestEntityTooLarge", 413, 2, false},
    Row{Code::unsupported_media_type, "UnsupportedMediaType", 415, 1, false},
    Row{Code::invalid, "Invalid", 422, 2, false},
    Row{Code::too_many_requests, "TooManyRequests", 429, 1, true},
    Row{Code::internal, "InternalError", 500, 1, true},
    Row{Code::unavailable, "ServiceUnavailable", 503, 1, true},
    Row{Code::server_timeout, "ServerTimeout", 504, 5, true},
    Row{Code::timeout, "Timeout", 504, 5, true},
    Row{Code::unimplemented, "NotImplemented", 501, 1, false},
    Row{Code::cancelled, "Cancelled", 499, 130, false},
};

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i)
    if (kTable[i].code != static_cast<Code>(i)) return false;
  return true;
}

static_assert(table_is_in_order(), "row() indexes the table by code");

const Row& row(Code code) {
  return kTable[static_cast<std::size_t>(code)];
}

Code code_from_errno(int value) {
  switch (value) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Code::not_found;
    case EEXIST:
    case EADDRINUSE:
      return Code::already_exists;
    case EACCES:
    case EPERM:
      return Code::forbidden;
    case EINVAL:
    case ENAMETOOLONG:
      return Code::invalid;
    case ETIMEDOUT:
      return Code::timeout;
    case ECANCELED:
      return Code::cancelled;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::unimplemented;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EAGAIN:
      return Code::unavailable;
    default:
      return Code::internal;
  }
}

}  // namespace

std::string_view reason(Code code) {
  return row(code).reason;
}

int http_status(Code code) {
  return row(code).http;
}

int exit_code(Code code) {
  return row(code).exit;
}

bool is_retryable(Code code) {
  return row(code).retryable;
}

Code code_from_http(int status) {
  if (status == 409)
    return Code::conflict;  // two codes have this status; without a reason this is safer
  if (status == 500) return Code::internal;
  if (status == 504) return Code::timeout;
  for (const Row& r : kTable)
    if (r.http == status) return r.code;
  if (status >= 500) return Code::unavailable;
  if (status >= 400) return Code::bad_request;
  return Code::unknown;
}

Code code_from_reason(std::string_view text, int http_status) {
  for (const Row& r : kTable)
    if (r.reason == text && r.code != Code::unknown) return r.code;
  return code_from_http(http_status);
}

Error Error::with_context(std::string_view context) const {
  Error out = *this;
  out.message = fmt::format("{}: {}", context, message);
  return out;
}

Error fail_errno(int errno_value, std::string_view what) {
  std::array<char, 128> buffer{};
  const char* text = ::strerror_r(errno_value, buffer.data(), buffer.size());
  std::string lower(text);
  // strerror's texts start with a capital; ours continue a sentence. Acronyms ("RPC …") stay.
  if (lower.size() > 1 && lower[1] >= 'a')
    lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return Error{.code = code_from_errno(errno_value),
               .message = fmt::format("{}: {}", what, lower),
               .errno_value = errno_value};
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "plimsoll: internal error: %s does not hold (%s:%d); please report this\n",
               condition, file, line);
  std::abort();
}

}  // namespace plim
