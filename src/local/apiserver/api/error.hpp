// Errors of the API: the error type inside apiserver/api, and its Status object.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/schema/validation.hpp"
#include "net/http.hpp"

namespace plim::local::apiserver {

struct Kind;

// The `details` of a Status. `kind` is the plural resource for NotFound, AlreadyExists and
// Conflict, the Kind for Invalid, as clients expect.
struct ErrorDetails {
  std::string name = {};
  std::string group = {};
  std::string kind = {};
  std::string uid = {};
  std::vector<Cause> causes = {};
  int retry_after = 0;  // seconds
};

struct ApiError {
  int code = 500;
  std::string reason;
  std::string message;
  std::optional<ErrorDetails> details = {};
  std::string continue_token = {};  // for an expired list: continues it at the newest revision
};

// Has no details.
ApiError error_of(Error error);

ApiError not_found(const Kind& kind, std::string_view name);
// The path names no resource that exists.
ApiError unknown_resource();
ApiError already_exists(const Kind& kind, std::string_view name);
ApiError conflict(const Kind& kind, std::string_view name, std::string_view why);
// Another client has changed the object; with upstream's message.
ApiError modified_meanwhile(const Kind& kind, std::string_view name);
ApiError invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes);
// 422 for the options of a request: kind "ListOptions", group meta.k8s.io.
ApiError invalid_options(std::string_view options_kind, std::vector<Cause> causes);
ApiError forbidden(const Kind& kind, std::string_view name, std::string_view why);
ApiError bad_request(std::string message);
// For an object whose name is missing.
ApiError without_a_name(std::string_view name_on_url);
ApiError method_not_allowed();

json::value status_of(const ApiError& error);
// The whole response, with Retry-After if the error has one.
net::Response response_of(const ApiError& error);
Error to_error(const ApiError& error);

template <class T>
class [[nodiscard]] ApiResult : public tl::expected<T, ApiError> {
 public:
  using Base = tl::expected<T, ApiError>;
  using Base::Base;

  // NOLINTBEGIN(google-explicit-constructor): PLIM_TRY returns errors of both kinds
  ApiResult(ApiError error) : Base(tl::unexpect, std::move(error)) {}

  ApiResult(Error error) : Base(tl::unexpect, error_of(std::move(error))) {}

  // NOLINTEND(google-explicit-constructor)
};

}  // namespace plim::local::apiserver
