// HTTP messages, for client and server.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::net {

// Names are compared without case; order and repeated names are kept.
class Headers {
 public:
  Headers() = default;

  Headers(std::initializer_list<std::pair<std::string, std::string>> list) : list_(list) {}

  std::string_view get(std::string_view name) const;  // first value, "" if missing
  bool has(std::string_view name) const;
  bool has_token(std::string_view name,
                 std::string_view token) const;  // in a comma-separated value
  void add(std::string name, std::string value);
  void set(std::string name, std::string value);  // replaces every value of that name
  void remove(std::string_view name);

  auto begin() const { return list_.begin(); }

  auto end() const { return list_.end(); }

  std::size_t size() const { return list_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

// The other end of a server's connection.
struct Peer {
  std::string address;           // "127.0.0.1:4711", or "unix"
  std::string certificate_user;  // common name of a verified client certificate, else empty
  std::vector<std::string> certificate_groups;               // its organizations
  std::optional<std::pair<unsigned, int>> credentials = {};  // uid and pid over a unix socket
};

struct Request {
  std::string method = "GET";
  std::string path = {};   // starts with '/', percent-encoding as received; no query
  std::string query = {};  // without '?'
  Headers headers = {};
  std::string body = {};
  Peer peer = {};      // set by the server, like http2
  bool http2 = false;  // received by HTTP/2
};

struct Response {
  int status = 200;
  Headers headers = {};
  std::string body = {};
};

std::string_view bearer_token(const Headers& headers);  // from Authorization, "" if there is none
std::string_view status_text(int status);               // "Not Found"

// Percent-encoding for one path segment or query value. Decoding keeps broken escapes as they are.
std::string percent_encode(std::string_view text);
std::string percent_decode(std::string_view text, bool plus_is_space = false);
// "a=1&b=x%20y" in order; a name without '=' has an empty value.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);
std::string format_query(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace plim::net
