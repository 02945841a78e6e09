#include "sched/port_table.hpp"

#include <algorithm>

namespace plim::sched {

void PortTable::count(NodeIndex row, const std::vector<HostPort>& ports, int sign) {
  for (const HostPort& port : ports) {
    std::vector<Use>& uses = uses_[port.port];
    auto use = std::ranges::find_if(uses, [&](const Use& one) {
      return one.row == row && one.protocol == port.protocol && one.address == port.address;
    });
    if (use == uses.end())
      use =
          uses.insert(uses.end(), {.row = row, .protocol = port.protocol, .address = port.address});
    use->count += sign;
    if (use->count == 0) uses.erase(use);
    if (uses.empty()) uses_.erase(port.port);
  }
}

bool PortTable::conflict(NodeIndex row, const std::vector<HostPort>& wanted) const {
  constexpr std::string_view kAny = "0.0.0.0";
  for (const HostPort& port : wanted) {
    auto uses = uses_.find(port.port);
    if (uses == uses_.end()) continue;
    bool taken = std::ranges::any_of(uses->second, [&](const Use& use) {
      return use.row == row && use.protocol == port.protocol &&
             (use.address == port.address || use.address == kAny || port.address == kAny);
    });
    if (taken) return true;
  }
  return false;
}

}  // namespace plim::sched
