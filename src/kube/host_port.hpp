// Host ports: ports of the node that a pod takes.
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
  // Two pods that need these ports cannot run on one node.
  bool clashes_with(const HostPort& other) const;
  bool clashes_with_any(const std::vector<HostPort>& others) const;
};

// Of containers and of sidecars (init containers that keep running).
std::vector<HostPort> host_ports(const Pod& pod);

}  // namespace plim::kube
