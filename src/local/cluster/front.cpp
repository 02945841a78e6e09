#include "local/cluster/front.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;

constexpr int kPortsToTry = 200;

std::string address_text(std::string_view host, int port) {
  bool is_v6 = host.find(':') != host.npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace

Result<FrontAddress> parse_front_address(std::string_view text) {
  auto colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == text.npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  auto port = parse_int<std::uint16_t>(colon == text.npos ? "" : text.substr(colon + 1));
  if (host.empty() || !port)
    return fail(
        Code::invalid,
        fmt::format("cannot listen on {}: expected an address and a port, such as 127.0.0.1:7443",
                    quote(text)));
  return FrontAddress{.host = std::string(host), .port = *port, .fixed = true};
}

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

Result<std::unique_ptr<net::Server>> listen_in_front(const Executor& loop,
                                                     apiserver::ApiServer& api,
                                                     const ClusterKeys& keys,
                                                     const FrontAddress& address) {
  net::ServerOptions options;
  options.tls = net::ServerTls{.certificate_pem = keys.server.certificate_pem,
                               .key_pem = keys.server.key_pem,
                               .client_ca_pem = keys.authority.certificate_pem};
  options.idle_timeout = 5min;
  options.gzip_from = 128 << 10;  // as kube-apiserver: compressing less costs more than it saves
  net::Route everything{.method = "*", .pattern = "*"};
  everything.handler = [&api](net::Request request) { return api.handle(std::move(request)); };
  everything.options.handler_timeout = 5min;  // for webhooks and large collections
  for (int i = 0;; ++i) {
    options.address = address_text(address.host, address.port + i);
    auto server = net::Server::listen({loop}, options, {everything});
    if (server) return server;
    bool taken = server.error().errno_value == EADDRINUSE;
    if (!taken || address.fixed || i == kPortsToTry || address.port + i >= 65'535)
      return server.error();
  }
}

}  // namespace plim::local::cluster
