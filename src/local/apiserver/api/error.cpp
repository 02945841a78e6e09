#include "local/apiserver/api/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {
namespace {

ApiError about(Code code, const Kind& kind, std::string_view name, std::string message) {
  return {
      .code = http_status(code),
      .reason = std::string(reason(code)),
      .message = std::move(message),
      .details = ErrorDetails{.name = std::string(name), .group = kind.group, .kind = kind.plural}};
}

json::object details_json(const ErrorDetails& details) {
  json::object out;
  if (!details.name.empty()) out["name"] = details.name;
  if (!details.group.empty()) out["group"] = details.group;
  if (!details.kind.empty()) out["kind"] = details.kind;
  if (!details.uid.empty()) out["uid"] = details.uid;
  if (!details.causes.empty()) {
    json::array& causes = out["causes"].emplace_array();
    for (const Cause& cause : details.causes) {
      json::object one;
      if (!cause.reason.empty()) one["reason"] = cause.reason;
      if (!cause.message.empty()) one["message"] = cause.message;
      if (!cause.field.empty()) one["field"] = cause.field;
      causes.push_back(std::move(one));
    }
  }
  if (details.retry_after > 0) out["retryAfterSeconds"] = details.retry_after;
  return out;
}

}  // namespace

ApiError error_of(Error error) {
  ApiError out{.code = http_status(error.code),
               .reason = std::string(reason(error.code)),
               .message = std::move(error.message)};
  if (error.retry_after)
    out.details = ErrorDetails{.retry_after = static_cast<int>(error.retry_after->count())};
  return out;
}

ApiError not_found(const Kind& kind, std::string_view name) {
  return about(Code::not_found, kind, name,
               fmt::format("{} \"{}\" not found", kind.qualified, name));
}

ApiError unknown_resource() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .details = ErrorDetails{}};
}

ApiError already_exists(const Kind& kind, std::string_view name) {
  return about(Code::already_exists, kind, name,
               fmt::format("{} \"{}\" already exists", kind.qualified, name));
}

ApiError conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return about(
      Code::conflict, kind, name,
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.qualified, name, why));
}

ApiError modified_meanwhile(const Kind& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

ApiError invalid(const Kind& kind, std::string_view name, std::vector<Cause> found) {
  // Two checks may find the same mistake.
  std::vector<Cause> causes;
  for (Cause& cause : found) {
    const bool is_known = std::ranges::any_of(causes, [&](const Cause& one) {
      return one.reason == cause.reason && one.message == cause.message && one.field == cause.field;
    });
    if (!is_known) causes.push_back(std::move(cause));
  }
  std::string message = invalid_message(kind.group, kind.kind, name, causes);
  return {.code = 422,
          .reason = "Invalid",
          .message = std::move(message),
          .details = ErrorDetails{.name = std::string(name),
                                  .group = kind.group,
                                  .kind = kind.kind,
                                  .causes = std::move(causes)}};
}

ApiError invalid_options(std::string_view options_kind, std::vector<Cause> causes) {
  std::string message = invalid_message("meta.k8s.io", options_kind, "", causes);
  return {
      .code = 422,
      .reason = "Invalid",
      .message = std::move(message),
      .details = ErrorDetails{
          .group = "meta.k8s.io", .kind = std::string(options_kind), .causes = std::move(causes)}};
}

ApiError forbidden(const Kind& kind, std::string_view name, std::string_view why) {
  return about(Code::forbidden, kind, name,
               fmt::format("{}{} is forbidden: {}", kind.qualified,
                           name.empty() ? "" : fmt::format(" \"{}\"", name), why));
}

ApiError bad_request(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

ApiError without_a_name(std::string_view name_on_url) {
  return bad_request(fmt::format(
      "the name of the object ({} based on URL) was undeterminable: name must be provided",
      name_on_url));
}

ApiError method_not_allowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = ErrorDetails{}};
}

json::value status_of(const ApiError& error) {
  json::object metadata;
  if (!error.continue_token.empty()) metadata["continue"] = error.continue_token;
  json::object out{{"kind", "Status"},
                   {"apiVersion", "v1"},
                   {"metadata", std::move(metadata)},
                   {"status", "Failure"},
                   {"message", error.message}};
  if (!error.reason.empty()) out["reason"] = error.reason;
  if (error.details) out["details"] = details_json(*error.details);
  out["code"] = error.code;
  return out;
}

net::Response response_of(const ApiError& error) {
  net::Response out{.status = error.code};
  out.headers.set("Content-Type", "application/json");
  if (error.details && error.details->retry_after > 0)
    out.headers.set("Retry-After", std::to_string(error.details->retry_after));
  out.body = to_json(status_of(error));
  return out;
}

Error to_error(const ApiError& error) {
  Error out = fail(code_from_reason(error.reason, error.code), error.message);
  if (error.details && error.details->retry_after > 0)
    out.retry_after = std::chrono::seconds(error.details->retry_after);
  return out;
}

}  // namespace plim::local::apiserver
