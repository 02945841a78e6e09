// The bytes of a request before its body. For .cpp files of this folder only.
#pragma once

#include <optional>
#include <string>

#include "net/http.hpp"
#include "net/url.hpp"

namespace plim::net {

enum class BodyLength { known, chunked };

struct RequestContext {
  const Url& origin;
  const std::optional<Url>& proxy;
  std::string_view user_agent;
  bool expect_continue = false;
};

// Refuses what would not arrive as meant: control characters in names, values or the path. A Host,
// User-Agent or Accept-Encoding of the request's own wins over ours.
Result<std::string> format_request_head(const Request& request, const RequestContext& context,
                                        BodyLength length);

// Legal in a message: a header name, and a value without control characters.
bool is_token(std::string_view text);
bool is_field_value(std::string_view text);

}  // namespace plim::net
