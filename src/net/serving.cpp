#include "net/serving.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/gzip.hpp"

namespace plim::net {
namespace {

Response plain_text(int status, std::string body) {
  Response out;
  out.status = status;
  out.headers.add("Content-Type", "text/plain; charset=utf-8");
  out.body = std::move(body);
  return out;
}

// Turns an absolute target ("http://host/path", as proxies get it) into its path.
bool make_origin_form(Request& request) {
  if (request.path.starts_with('/')) return true;
  if (request.path == "*" && request.method == "OPTIONS") return true;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (!request.path.starts_with(scheme)) continue;
    auto slash = request.path.find('/', scheme.size());
    request.path = slash == std::string::npos ? "/" : request.path.substr(slash);
    return true;
  }
  return false;
}

}  // namespace

std::optional<Refusal> objection(Request& request) {
  if (!make_origin_form(request)) return Refusal{400, "the request target must be a path"};
  if (request.headers.has("Expect") && !request.headers.has_token("Expect", "100-continue"))
    return Refusal{417, "only the expectation 100-continue is supported"};
  std::string_view coding = request.headers.get("Content-Encoding");
  if (!coding.empty() && !equals_ignoring_case(coding, "gzip") &&
      !equals_ignoring_case(coding, "identity"))
    return Refusal{415, "only the content encoding gzip is supported"};
  return std::nullopt;
}

int status_of_receiving(const Error& error, int too_large) {
  switch (error.code) {
    case Code::too_large:
      return too_large;
    case Code::bad_request:
      return 400;
    case Code::timeout:
      return 408;
    case Code::too_many_requests:
      return 503;
    default:
      return 0;
  }
}

Response refusal(int status, std::string_view why) {
  return plain_text(status, fmt::format("{} {}: {}\n", status, status_text(status), why));
}

Response no_route(const Router& router, std::string_view path) {
  std::string allowed = router.allowed_methods(path);
  if (allowed.empty()) return plain_text(404, "404 page not found\n");
  Response out = plain_text(405, "405 method not allowed\n");
  out.headers.add("Allow", std::move(allowed));
  return out;
}

Response handler_failed() {
  return plain_text(500, "500 internal server error\n");
}

Response handler_too_slow() {
  return plain_text(504, "504 the request took too long\n");
}

bool has_no_body(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

void gzip_if_worth(Response& response, std::size_t from) {
  std::string_view type = response.headers.get("Content-Type");
  bool compressed_already = type.starts_with("image/") || type.starts_with("font/") ||
                            type.starts_with("application/gzip");
  if (response.body.size() < from || response.headers.has("Content-Encoding") || compressed_already)
    return;
  response.body = gzip(response.body);
  response.headers.add("Content-Encoding", "gzip");
  response.headers.add("Vary", "Accept-Encoding");
}

}  // namespace plim::net
