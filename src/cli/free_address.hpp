// Ports for the roles that `plimsoll up` starts.
#pragma once

#include <string>

namespace plim::cli {

// "127.0.0.1:8080", or with the next free port.
std::string free_address(std::string host, int port);

}  // namespace plim::cli
