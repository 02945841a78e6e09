// Errors as values. A function that can fail returns Result<T>; the caller must check it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace plim {

// The codes follow the reasons of Kubernetes' Status objects, so that one table (result.cpp) gives
// the HTTP status, the exit code and whether a retry makes sense.
enum class Code {
  unknown,
  bad_request,
  unauthorized,
  forbidden,
  not_found,
  method_not_allowed,
  not_acceptable,
  already_exists,
  conflict,
  gone,
  expired,
  too_large,
  unsupported_media_type,
  invalid,
  too_many_requests,
  internal,
  unavailable,
  server_timeout,
  timeout,
  unimplemented,
  cancelled,
};

std::string_view reason(Code code);  // Kubernetes' name: "NotFound"
int http_status(Code code);          // 404
int exit_code(Code code);            // exit code of a command: 4
bool is_retryable(Code code);        // the same request may succeed later
Code code_from_http(int status);     // the reverse, for responses without a Status body
Code code_from_reason(std::string_view reason, int http_status);  // falls back to the HTTP status

struct Error {
  Code code = Code::unknown;
  std::string message;  // lower case, no full stop, names the object
  int errno_value = 0;  // 0: not from a system call
  std::optional<std::chrono::seconds> retry_after = {};  // requested by a server

  // "while reading /etc/x: permission denied"
  Error with_context(std::string_view context) const;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;

  // NOLINTBEGIN(google-explicit-constructor): allows `return fail(…)`
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}

  Result(Base base) : Base(std::move(base)) {}

  // NOLINTEND(google-explicit-constructor)
};

inline Error fail(Code code, std::string message) {
  return Error{.code = code, .message = std::move(message)};
}

// For a failed system call: appends the text of `errno_value` and derives the code from it.
Error fail_errno(int errno_value, std::string_view what);

// A violated invariant ends the process, in release builds too: a restart is cheap, a wrong state
// is not.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace plim

#define PLIM_ASSERT(condition) \
  ((condition) ? void() : ::plim::assertion_failed(#condition, __FILE__, __LINE__))

#define PLIM_CONCAT_INNER(a, b) a##b
#define PLIM_CONCAT(a, b) PLIM_CONCAT_INNER(a, b)
#define PLIM_TRY_INNER(leave, name, target, ...) \
  auto name = (__VA_ARGS__);                     \
  if (!name) leave std::move(name).error();      \
  target = std::move(*name)
#define PLIM_CHECK_INNER(leave, name, ...) \
  if (auto name = (__VA_ARGS__); !name) leave std::move(name).error()

// PLIM_TRY(int n, parse(text)) declares or assigns n, or returns the error. It expands to several
// statements: use braces after an if. PLIM_CHECK(write(x)) is the same for Result<void>. The CO
// forms are for coroutines.
#define PLIM_TRY(target, ...) \
  PLIM_TRY_INNER(return, PLIM_CONCAT(plim_try_, __LINE__), target, __VA_ARGS__)
#define PLIM_CO_TRY(target, ...) \
  PLIM_TRY_INNER(co_return, PLIM_CONCAT(plim_try_, __LINE__), target, __VA_ARGS__)
#define PLIM_CHECK(...) PLIM_CHECK_INNER(return, PLIM_CONCAT(plim_try_, __LINE__), __VA_ARGS__)
#define PLIM_CO_CHECK(...) \
  PLIM_CHECK_INNER(co_return, PLIM_CONCAT(plim_try_, __LINE__), __VA_ARGS__)
