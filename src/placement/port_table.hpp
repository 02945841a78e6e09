// Which host ports are in use on which nodes. Few pods use one, so the table is by port, not by
// node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/host_port.hpp"
#include "placement/node_table.hpp"

namespace plim::placement {

class PortTable {
 public:
  void count(NodeIndex row, const std::vector<kube::HostPort>& ports, int sign);

  // Whether one of the ports is in use on the row.
  bool conflict(NodeIndex row, const std::vector<kube::HostPort>& wanted) const;

 private:
  struct Use {
    NodeIndex row = 0;
    kube::HostPort port;
    std::int32_t count = 0;
  };

  std::unordered_map<std::int32_t, std::vector<Use>> uses_;  // by port
};

}  // namespace plim::placement
