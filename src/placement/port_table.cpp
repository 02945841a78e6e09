#include "placement/port_table.hpp"

#include <algorithm>

namespace plim::placement {

void PortTable::count(NodeIndex row, const std::vector<kube::HostPort>& ports, int sign) {
  for (const kube::HostPort& port : ports) {
    std::vector<Use>& uses = uses_[port.port];
    auto use = std::ranges::find_if(
        uses, [&](const Use& one) { return one.row == row && one.port == port; });
    if (use == uses.end()) use = uses.insert(uses.end(), {.row = row, .port = port});
    use->count += sign;
    if (use->count == 0) uses.erase(use);
    if (uses.empty()) uses_.erase(port.port);
  }
}

bool PortTable::conflict(NodeIndex row, const std::vector<kube::HostPort>& wanted) const {
  for (const kube::HostPort& port : wanted) {
    auto uses = uses_.find(port.port);
    if (uses == uses_.end()) continue;
    bool taken = std::ranges::any_of(uses->second, [&](const Use& use) {
      return use.row == row && use.port.clashes_with(port);
    });
    if (taken) return true;
  }
  return false;
}

}  // namespace plim::placement
