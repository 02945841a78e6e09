#include "kube/host_port.hpp"

#include <algorithm>
#include <string_view>

#include "base/json.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

void add_ports(const Container& container, std::vector<HostPort>& out) {
  if (container.ports.empty()) return;
  auto list = parse_json(container.ports);
  if (!list || !list->is_array()) return;
  for (const json::value& item : list->get_array()) {
    HostPort made{
        .port = static_cast<std::int32_t>(int_at(item, "ContainerPort.hostPort").value_or(0))};
    if (made.port <= 0) continue;
    if (auto text = text_at(item, "ContainerPort.protocol"); !text.empty()) made.protocol = text;
    if (auto text = text_at(item, "ContainerPort.hostIP"); !text.empty()) made.address = text;
    out.push_back(std::move(made));
  }
}

}  // namespace

bool HostPort::clashes_with(const HostPort& other) const {
  constexpr std::string_view kAny = "0.0.0.0";
  const bool same_address = address == other.address || address == kAny || other.address == kAny;
  return port == other.port && protocol == other.protocol && same_address;
}

bool HostPort::clashes_with_any(const std::vector<HostPort>& others) const {
  return std::ranges::any_of(others, [&](const HostPort& one) { return clashes_with(one); });
}

std::vector<HostPort> host_ports(const Pod& pod) {
  std::vector<HostPort> out;
  for (const Container& container : pod.spec.containers) add_ports(container, out);
  for (const Container& container : pod.spec.init_containers)
    if (container.restart_policy == "Always") add_ports(container, out);
  return out;
}

}  // namespace plim::kube
