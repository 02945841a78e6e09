#include <set>

#include <fmt/format.h>

#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kNodeColumns[] = {
    kName,
    {.name = "Status", .description = "Whether it takes pods"},
    {.name = "Roles", .description = "Roles given by its labels"},
    kAge,
    {.name = "Version", .description = "Version of the kubelet"},
    {.name = "Internal-IP", .description = "Address inside the cluster", .priority = 1},
    {.name = "External-IP", .description = "Address outside the cluster", .priority = 1},
    {.name = "OS-Image", .description = "Operating system", .priority = 1},
    {.name = "Kernel-Version", .description = "Version of the kernel", .priority = 1},
    {.name = "Container-Runtime", .description = "What runs the containers", .priority = 1},
};

std::string status(const json::value& node) {
  std::string out = "Unknown";
  if (condition(node, "Ready")) out = is_true(node, "Ready") ? "Ready" : "NotReady";
  if (kube::bool_at(node, "Node.spec.unschedulable")) out += ",SchedulingDisabled";
  return out;
}

std::string roles(const json::value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> found;
  for (const json::key_value_pair& label : members(node, "Node.metadata.labels")) {
    const std::string_view key = label.key();
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size())
      found.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && label.value().is_string() &&
        !label.value().get_string().empty())
      found.emplace(label.value().get_string());
  }
  return found.empty() ? "<none>" : fmt::format("{}", fmt::join(found, ","));
}

std::string address(const json::value& node, std::string_view type) {
  for (const json::value& candidate : list(node, "Node.status.addresses"))
    if (kube::text_at(candidate, "NodeAddress.type") == type)
      return text(candidate, "NodeAddress.address", "<none>");
  return "<none>";
}

json::array node_cells(const json::value& node, WallTime now) {
  return {name(node),
          status(node),
          roles(node),
          age(node, now),
          text(node, "Node.status.nodeInfo.kubeletVersion"),
          address(node, "InternalIP"),
          address(node, "ExternalIP"),
          text(node, "Node.status.nodeInfo.osImage", "<unknown>"),
          text(node, "Node.status.nodeInfo.kernelVersion", "<unknown>"),
          text(node, "Node.status.nodeInfo.containerRuntimeVersion", "<unknown>")};
}

}  // namespace

const TableView kNodeView{.columns = kNodeColumns, .cells = node_cells};

}  // namespace plim::local::apiserver
