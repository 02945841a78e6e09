// Ports for the roles that `plimsoll up` starts.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace plim::roles {

// "127.0.0.1:8080", reserved while this object lives. A role listens on its address only some time
// after it gets it. Until then other clusters on this machine would find the port free too, and one
// of the two roles would have to be restarted with another port.
struct HeldAddress {
  std::string text = {};
  Fd mark = {};
};

// Reserves this port, or the next one that is free and not reserved.
HeldAddress hold_free_address(const std::string& host, int port);

}  // namespace plim::roles
