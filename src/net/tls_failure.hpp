// Distinguishes failures of TLS from those of the network.
#pragma once

#include "base/result.hpp"

namespace plim::net {

// True if the peer was reached, but one side rejected the other's certificate or did not understand
// it. False for a lost connection and for a timeout.
bool is_tls_failure(const Error& error);

}  // namespace plim::net
