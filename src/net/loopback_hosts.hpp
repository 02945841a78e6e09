// Protects servers on loopback that need no credentials from web pages (DNS rebinding).
#pragma once

#include <string_view>
#include <vector>

#include "net/server.hpp"

namespace plim::net {

// localhost, a name below it, 127.0.0.0/8 or ::1, without a port.
bool is_loopback_host(std::string_view host);

// Anybody may give a name of their own the address 127.0.0.1. A browser then takes our answers for
// those of the page that it got from that name, and lets the page read them. The Host header still
// has the name, so routes of a server that listens on a loopback `address` answer 421 to all other
// names. For plain HTTP: with TLS, our certificate does not have the page's name.
std::vector<Route> only_for_loopback_hosts(std::string_view address, std::vector<Route> routes);

}  // namespace plim::net
