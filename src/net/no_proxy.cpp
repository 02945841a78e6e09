// Decides which hosts are reached without a proxy, with the rules of Go's
// golang.org/x/net/http/httpproxy, which kubectl and other Kubernetes tools use.
#include <cstdlib>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/text.hpp"
#include "net/client.hpp"
#include "net/url.hpp"

namespace plim::net {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> as_address(const std::string& text) {
  boost::system::error_code error;
  auto address = ip::make_address(text, error);
  if (error) return std::nullopt;
  // Go treats IPv4 and IPv4-mapped IPv6 addresses as equal.
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

bool network_contains(const std::string& network, const ip::address& address) {
  boost::system::error_code error;
  if (address.is_v4()) {
    auto net4 = ip::make_network_v4(network, error);
    if (error) return false;
    return net4.canonical() == ip::network_v4(address.to_v4(), net4.prefix_length()).canonical();
  }
  auto net6 = ip::make_network_v6(network, error);
  if (error) return false;
  return net6.canonical() == ip::network_v6(address.to_v6(), net6.prefix_length()).canonical();
}

struct Entry {
  std::string host;
  std::string port;  // empty: any
};

// "host", "host:port", "[v6]", "[v6]:port"; a bare IPv6 address has no port.
Entry split_port(std::string text) {
  if (text.starts_with('[')) {
    auto close = text.find(']');
    if (close == text.npos) return {std::move(text), {}};
    std::string rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  auto colon = text.find(':');
  if (colon == text.npos || text.find(':', colon + 1) != text.npos) return {std::move(text), {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool domain_matches(std::string pattern, const std::string& host) {
  if (pattern.starts_with("*.")) pattern.erase(0, 1);
  bool itself_too = !pattern.starts_with('.');
  if (itself_too) pattern.insert(0, 1, '.');
  return host.ends_with(pattern) || (itself_too && host == pattern.substr(1));
}

std::string environment(const char* upper, const char* lower) {
  for (const char* name : {upper, lower})
    if (const char* value = std::getenv(name); value && *value) return value;
  return {};
}

}  // namespace

bool no_proxy_matches(std::string_view no_proxy, std::string_view host_text, std::uint16_t port) {
  std::string host = to_lower(trim(host_text));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  auto address = as_address(host);
  for (std::string_view part : split(no_proxy, ',')) {
    std::string item = to_lower(trim(part));
    if (item.empty()) continue;
    if (item == "*") return true;
    if (item.find('/') != item.npos) {
      if (address && network_contains(item, *address)) return true;
      continue;
    }
    Entry entry = split_port(std::move(item));
    if (entry.host.empty()) continue;
    if (!entry.port.empty() && entry.port != std::to_string(port)) continue;
    auto entry_address = as_address(entry.host);
    bool matches = entry_address ? address == entry_address : domain_matches(entry.host, host);
    if (matches) return true;
  }
  return false;
}

std::string proxy_from_environment(std::string_view url_text) {
  auto url = parse_url(url_text);
  if (!url || url->scheme == Url::Scheme::unix_socket) return {};
  std::string proxy = url->scheme == Url::Scheme::https ? environment("HTTPS_PROXY", "https_proxy")
                                                        : environment("HTTP_PROXY", "http_proxy");
  if (proxy.empty()) return {};
  auto address = as_address(url->host);
  if (to_lower(url->host) == "localhost" || (address && address->is_loopback())) return {};
  if (no_proxy_matches(environment("NO_PROXY", "no_proxy"), url->host, url->port)) return {};
  return proxy.find("://") == proxy.npos ? "http://" + proxy : proxy;
}

}  // namespace plim::net
