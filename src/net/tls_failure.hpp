// Telling a failure of TLS from one of the network below it.
#pragma once

#include "base/result.hpp"

namespace plim::net {

// Of a connection's error: the peer was reached, but one side refused the other's certificate or
// did not understand it. Neither a lost connection nor one that took too long.
bool is_tls_failure(const Error& error);

}  // namespace plim::net
