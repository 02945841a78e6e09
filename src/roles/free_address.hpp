// Ports for the roles that `plimsoll up` starts.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace plim::roles {

// "127.0.0.1:8080", for as long as it lives given to nobody else: a role listens there only some
// time after it was told to, and until then every other cluster of this machine would find the
// port free as well. One of the two roles would have to end and be started again.
struct HeldAddress {
  std::string text = {};
  Fd mark = {};
};

// With that port, or with the next that nobody listens on and nobody holds.
HeldAddress hold_free_address(const std::string& host, int port);

}  // namespace plim::roles
