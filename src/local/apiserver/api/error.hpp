// What the API answers when it refuses: the one error type inside local/api, and its Status object.
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
// Conflict, the Kind for Invalid: clients tell them apart by it.
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
  std::string continue_token = {};  // of an expired list: where a fresh one may go on
};

// Without details.
ApiError error_of(Error error);

ApiError not_found(const Kind& kind, std::string_view name);
// No such resource: the path names nothing.
ApiError unknown_resource();
ApiError already_exists(const Kind& kind, std::string_view name);
ApiError conflict(const Kind& kind, std::string_view name, std::string_view why);
// Somebody else wrote meanwhile, in upstream's words.
ApiError modified_meanwhile(const Kind& kind, std::string_view name);
ApiError invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes);
// 422 for the options of a request: kind "ListOptions", group meta.k8s.io.
ApiError invalid_options(std::string_view options_kind, std::vector<Cause> causes);
ApiError forbidden(const Kind& kind, std::string_view name, std::string_view why);
ApiError bad_request(std::string message);
// Of an object that has lost its name, or never had one.
ApiError without_a_name(std::string_view name_on_url);
ApiError method_not_allowed();

json::value status_of(const ApiError& error);
// The whole answer, with Retry-After where the error asks for patience.
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
