// The bytes of a response before its body. For .cpp files of this folder only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "net/http.hpp"

namespace plim::net {

enum class Framing { none, length, chunked, until_close };

struct ResponseFrame {
  Framing framing = Framing::length;
  std::size_t length = 0;
  bool keep_alive = true;
  bool http10 = false;
  WallTime now = {};  // for the Date header
};

std::string_view http_date(WallTime now);  // the Date header; valid until the next call
// Whether a handler may set this header: it is valid and not one that the server sets.
bool is_authors_header(std::string_view name, std::string_view value);

std::string format_response_head(int status, const Headers& headers, const ResponseFrame& frame);

// Whether an Accept-Encoding header includes gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace plim::net
