#include "net/url.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "net/http.hpp"

namespace plim::net {
namespace {

constexpr std::string_view kUnixPrefix = "unix://";

Error bad_url(std::string_view text, std::string_view why) {
  return fail(Code::invalid, fmt::format("URL \"{}\": {}", without_credentials(text), why));
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

std::string Url::host_and_port() const {
  return fmt::format("{}:{}", bracketed(host), port);
}

std::string Url::host_header() const {
  if (scheme == Scheme::unix_socket) return "localhost";
  bool is_default = port == (scheme == Scheme::https ? 443 : 80);
  return is_default ? bracketed(host) : host_and_port();
}

Result<Url> parse_url(std::string_view text) {
  Url out;
  if (text.starts_with(kUnixPrefix)) {
    out.scheme = Url::Scheme::unix_socket;
    out.path = text.substr(kUnixPrefix.size());
    if (!out.path.starts_with('/')) return bad_url(text, "expected unix:///path/to/socket");
    return out;
  }
  auto parsed = boost::urls::parse_uri(text);
  if (!parsed) return bad_url(text, "expected scheme://host:port/path");
  const boost::urls::url_view& url = *parsed;
  if (url.scheme() != "http" && url.scheme() != "https")
    return bad_url(text, "expected http://, https:// or unix:// at the start");
  if (url.scheme() == "https") out.scheme = Url::Scheme::https;
  out.host = url.host_address();
  if (out.host.empty()) return bad_url(text, "expected a host name");
  // An escaped slash or at sign would give another URL when the name is used again.
  if (url.host_type() == boost::urls::host_type::name &&
      std::string_view(url.encoded_host()).find('%') != std::string_view::npos)
    return bad_url(text, "expected a host name without escapes");
  if (url.has_port() && !url.port().empty()) {
    // Boost.URL 1.81 reads 99999 as 34463.
    out.port = parse_int<std::uint16_t>(std::string_view(url.port())).value_or(0);
    if (out.port == 0) return bad_url(text, "expected a port between 1 and 65535");
  } else {
    out.port = out.scheme == Url::Scheme::https ? 443 : 80;
  }
  if (url.has_query() || url.has_fragment()) return bad_url(text, "expected no query or fragment");
  out.user = percent_decode(std::string(url.encoded_user()));
  out.password = percent_decode(std::string(url.encoded_password()));
  out.path = std::string(url.encoded_path());
  // Boost.URL 1.81 treats the rest after a second '@' as a path without a slash.
  if (!out.path.empty() && !out.path.starts_with('/'))
    return bad_url(text, "expected a slash between host and path");
  while (out.path.ends_with('/')) out.path.pop_back();
  return out;
}

std::string without_credentials(std::string_view url) {
  auto start = url.find("//");
  if (start == std::string_view::npos) return std::string(url.substr(url.rfind('@') + 1));
  start += 2;
  auto end = std::min(url.find('/', start), url.size());
  auto at = url.rfind('@', end == url.size() ? end : end - 1);
  if (at == std::string_view::npos || at < start) return std::string(url);
  return std::string(url.substr(0, start)) + std::string(url.substr(at + 1));
}

}  // namespace plim::net
