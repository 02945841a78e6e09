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

// Rejects control characters in names, values and the path. Host, User-Agent and Accept-Encoding of
// the request replace ours.
Result<std::string> format_request_head(const Request& request, const RequestContext& context,
                                        BodyLength length);

// Whether the text is a valid header name, or a valid value without control characters.
bool is_token(std::string_view text);
bool is_field_value(std::string_view text);

}  // namespace plim::net
