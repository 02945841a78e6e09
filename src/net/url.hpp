// URLs of origins and proxies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::net {

struct Url {
  enum class Scheme { http, https, unix_socket };
  Scheme scheme = Scheme::http;
  std::string user = {}, password = {};
  std::string host = {};  // a name or an address without brackets; empty for unix sockets
  std::uint16_t port = 0;
  std::string path = {};  // without a trailing slash; for unix sockets, the path of the socket

  std::string host_and_port() const;  // "[::1]:443"
  std::string host_header() const;    // the same without a default port; "localhost" for unix
};

// "http://…", "https://…" or "unix:///path". Errors quote the text without user and password.
Result<Url> parse_url(std::string_view text);

// The text without user and password, for messages.
std::string without_credentials(std::string_view url);

}  // namespace plim::net
