// The ports of its node that a pod takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/types.hpp"

namespace plim::kube {

struct HostPort {
  std::int32_t port = 0;
  std::string protocol = "TCP", address = "0.0.0.0";

  bool operator==(const HostPort&) const = default;
  // Not both can be had on one node.
  bool clashes_with(const HostPort& other) const;
  bool clashes_with_any(const std::vector<HostPort>& others) const;
};

// Of containers, and of init containers that go on beside them.
std::vector<HostPort> host_ports(const Pod& pod);

}  // namespace plim::kube
