#include "local/sim/sim_node.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::local::sim {
namespace {

json::object resources(const NodeShape& shape) {
  return {{"cpu", shape.cpu},
          {"memory", shape.memory},
          {"ephemeral-storage", shape.ephemeral_storage},
          {"pods", shape.pods}};
}

json::object completed(const kube::ResourceList& given, json::object out) {
  for (const auto& [resource, amount] : given) out[resource.view()] = amount.view();
  return out;
}

json::array conditions(const std::string& time) {
  auto one = [&](std::string_view type, std::string_view status, std::string_view reason) {
    return json::object{{"type", type},  {"status", status},          {"reason", reason},
                        {"message", ""}, {"lastHeartbeatTime", time}, {"lastTransitionTime", time}};
  };
  return {one("MemoryPressure", "False", "KubeletHasSufficientMemory"),
          one("DiskPressure", "False", "KubeletHasNoDiskPressure"),
          one("PIDPressure", "False", "KubeletHasSufficientPID"),
          one("Ready", "True", "KubeletReady")};
}

json::array addresses(std::string_view name, const std::string& address) {
  return {json::object{{"type", "InternalIP"}, {"address", address}},
          json::object{{"type", "Hostname"}, {"address", name}}};
}

json::object node_info(const NodeShape& shape) {
  return {{"architecture", "amd64"},
          {"operatingSystem", "linux"},
          {"osImage", "simulated"},
          {"kernelVersion", "simulated"},
          {"kubeletVersion", shape.version},
          {"kubeProxyVersion", shape.version},
          {"containerRuntimeVersion", "plimsoll://sim"},
          {"machineID", ""},
          {"systemUUID", ""},
          {"bootID", ""}};
}

std::string address_in(std::uint32_t second_octet, std::uint32_t n) {
  const std::uint32_t held = n % (1u << 23);
  return fmt::format("10.{}.{}.{}", second_octet + (held >> 16), (held >> 8) & 255, held & 255);
}

}  // namespace

bool is_simulated(const kube::Node& node) {
  return std::ranges::any_of(node.meta.annotations, [](const auto& entry) {
    const std::string_view key = entry.first.view();
    return (key == "plimsoll.io/sim" && entry.second == "true") || key == "kwok.x-k8s.io/node";
  });
}

bool is_ready(const kube::Node& node) {
  return std::ranges::any_of(node.conditions, [](const kube::Condition& condition) {
    return condition.type.view() == "Ready" && condition.status.view() == "True";
  });
}

std::string address_of(const kube::Node& node) {
  for (const kube::NodeAddress& address : node.addresses)
    if (address.type.view() == "InternalIP") return address.address;
  return "";
}

json::value new_node(const std::string& name, const std::string& address, const NodeShape& shape,
                     json::array images, WallTime now) {
  json::object labels{{"kubernetes.io/hostname", name},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", "amd64"},
                      {"node.kubernetes.io/instance-type", "plimsoll-sim"}};
  json::object status{{"capacity", resources(shape)},
                      {"allocatable", resources(shape)},
                      {"conditions", conditions(format_rfc3339(now))},
                      {"addresses", addresses(name, address)},
                      {"nodeInfo", node_info(shape)}};
  if (!images.empty()) status["images"] = std::move(images);
  return json::object{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", json::object{{"name", name},
                                {"labels", std::move(labels)},
                                {"annotations", json::object{{"plimsoll.io/sim", "true"}}}}},
      {"spec", json::object()},
      {"status", std::move(status)}};
}

json::value ready_status(const kube::Node& node, const std::string& address, const NodeShape& shape,
                         WallTime now) {
  json::object status{{"phase", "Running"}, {"conditions", conditions(format_rfc3339(now))}};
  // The user may have set only some resources. Without the others no pod could be placed.
  status["capacity"] = completed(node.capacity, resources(shape));
  status["allocatable"] =
      completed(node.allocatable.empty() ? node.capacity : node.allocatable, resources(shape));
  if (node.addresses.empty()) status["addresses"] = addresses(node.meta.name, address);
  if (node.info.kubelet.view().empty()) status["nodeInfo"] = node_info(shape);
  return json::object{{"metadata", json::object{{"uid", node.meta.uid}}},
                      {"status", std::move(status)}};
}

json::value new_lease(const kube::Node& node, WallTime now) {
  json::object owner{
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.meta.name}, {"uid", node.meta.uid}};
  json::object metadata{{"name", node.meta.name},
                        {"namespace", "kube-node-lease"},
                        {"ownerReferences", json::array{std::move(owner)}}};
  json::object spec{{"holderIdentity", node.meta.name},
                    {"leaseDurationSeconds", kLeaseSeconds},
                    {"renewTime", format_rfc3339_micro(now)}};
  return json::object{{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

json::value renewed_lease(WallTime now) {
  return json::object{{"spec", json::object{{"renewTime", format_rfc3339_micro(now)}}}};
}

std::string node_address(std::uint32_t n) {
  return address_in(0, n);
}

std::string pod_address(std::uint32_t n) {
  return address_in(128, n);
}

}  // namespace plim::local::sim
