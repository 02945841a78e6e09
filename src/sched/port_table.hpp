// Which node has which host ports taken. Few pods ask for one, so it is kept per port, not per
// node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sched/pod_rules.hpp"

namespace plim::sched {

class PortTable {
 public:
  void count(NodeIndex row, const std::vector<HostPort>& ports, int sign);

  // Whether one of the ports is taken there: same protocol and port, and the same address or either
  // of them any.
  bool conflict(NodeIndex row, const std::vector<HostPort>& wanted) const;

 private:
  struct Use {
    NodeIndex row = 0;
    std::string protocol, address;
    std::int32_t count = 0;
  };

  std::unordered_map<std::int32_t, std::vector<Use>> uses_;  // by port
};

}  // namespace plim::sched
