// Ports for the roles that `plimsoll up` starts.
#pragma once

#include <functional>
#include <string>

namespace plim::cli {

// "127.0.0.1:8080", or with the next port that nobody listens on and nobody is about to.
std::string free_address(const std::string& host, int port,
                         const std::function<bool(const std::string& address)>& is_promised);

}  // namespace plim::cli
