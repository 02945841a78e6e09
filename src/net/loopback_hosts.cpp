#include "net/loopback_hosts.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::net {
namespace {

// "localhost:9101", "[::1]:9101" and "[::1]" without port and brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

Task<Reply> misdirected(std::string host) {
  Response out{.status = 421, .headers = {}, .body = {}};
  out.headers.set("Content-Type", "text/plain; charset=utf-8");
  out.body = fmt::format(
      "this server listens on loopback and does not answer for the host {}; "
      "use localhost or 127.0.0.1\n",
      quote(host));
  co_return out;
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string name = to_lower(host);
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && address.is_loopback();
}

std::vector<Route> only_for_loopback_hosts(std::string_view address, std::vector<Route> routes) {
  if (!is_loopback_host(host_of(address))) return routes;
  for (Route& route : routes) {
    PLIM_ASSERT(!route.streaming);
    route.handler = [handler = std::move(route.handler)](Request request) {
      // Clients of HTTP/1.0 may leave it out; a browser never does.
      const std::string_view host = request.headers.get("Host");
      if (!host.empty() && !is_loopback_host(host_of(host))) return misdirected(std::string(host));
      return handler(std::move(request));
    };
  }
  return routes;
}

}  // namespace plim::net
