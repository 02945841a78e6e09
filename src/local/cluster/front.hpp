// The port of the API server: the same one each time a cluster of this name starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/cluster/keys.hpp"
#include "net/server.hpp"

namespace plim::local::cluster {

inline constexpr std::uint16_t kFirstPort = 7443;

struct FrontAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = kFirstPort;
  bool fixed = false;  // the user chose it: no other port will do
};

// "127.0.0.1:7443" or "[::1]:7443"; rejects ":7443". With port 0 the kernel chooses.
Result<FrontAddress> parse_front_address(std::string_view text);
bool is_loopback(std::string_view host);

// Listens with TLS and passes every request to `api`. If the port is taken, tries the next ones
// unless it is fixed.
Result<std::unique_ptr<net::Server>> listen_in_front(const Executor& loop,
                                                     apiserver::ApiServer& api,
                                                     const ClusterKeys& keys,
                                                     const FrontAddress& address);

}  // namespace plim::local::cluster
