#include "net/request_head.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/connect.hpp"

namespace plim::net {
namespace {

// Room for the head, and for a small body that the client appends.
constexpr std::size_t kUsualHead = 1024, kUsualBody = 4096;

void put_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

bool is_target(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) != 127;
  });
}

bool has_body_by_nature(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

// Headers that frame the message are set by us.
bool is_framing(std::string_view name) {
  return equals_ignoring_case(name, "Content-Length") ||
         equals_ignoring_case(name, "Transfer-Encoding");
}

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != kMarks.npos;
  });
}

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= ' ' && byte != 127);
  });
}

Result<std::string> format_request_head(const Request& request, const RequestContext& context,
                                        BodyLength length) {
  if (!is_token(request.method)) return fail(Code::invalid, "request method is not a token");
  std::string path = context.origin.scheme == Url::Scheme::unix_socket
                         ? request.path
                         : context.origin.path + request.path;
  if (path.empty()) path = "/";
  if (!path.starts_with('/') || !is_target(path) || !is_target(request.query))
    return fail(Code::invalid, fmt::format("request path \"{}\" must start with a slash and "
                                           "contain no spaces",
                                           request.path));
  std::string out;
  out.reserve(kUsualHead + std::min(request.body.size(), kUsualBody));
  out.append(request.method).append(" ");
  bool absolute = context.proxy && context.origin.scheme == Url::Scheme::http;
  if (absolute) out += "http://" + context.origin.host_and_port();
  out += path;
  if (!request.query.empty()) out += "?" + request.query;
  out += " HTTP/1.1\r\n";

  const Headers& own = request.headers;
  if (!own.has("Host")) put_header(out, "Host", context.origin.host_header());
  if (!own.has("User-Agent")) put_header(out, "User-Agent", context.user_agent);
  if (!own.has("Accept-Encoding")) put_header(out, "Accept-Encoding", "gzip");
  if (absolute) {
    if (auto authorization = proxy_authorization(*context.proxy); !authorization.empty())
      put_header(out, "Proxy-Authorization", authorization);
  }
  for (const auto& [name, value] : own) {
    if (is_framing(name)) continue;
    if (!is_token(name) || !is_field_value(value))
      return fail(Code::invalid,
                  fmt::format("header \"{}\" has characters that are not allowed", name));
    put_header(out, name, value);
  }
  if (length == BodyLength::chunked) {
    put_header(out, "Transfer-Encoding", "chunked");
  } else if (!request.body.empty() || has_body_by_nature(request.method)) {
    put_header(out, "Content-Length", std::to_string(request.body.size()));
  }
  if (context.expect_continue) put_header(out, "Expect", "100-continue");
  out += "\r\n";
  return out;
}

}  // namespace plim::net
