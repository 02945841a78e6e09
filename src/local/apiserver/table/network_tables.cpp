#include <set>

#include <fmt/format.h>

#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr std::size_t kShown = 3;  // addresses and ports in one cell

std::vector<std::string> texts(const json::array& values) {
  std::vector<std::string> out;
  for (const json::value& value : values)
    if (value.is_string()) out.emplace_back(value.get_string());
  return out;
}

constexpr TableColumn kServiceColumns[] = {
    kName,
    {.name = "Type", .description = "How it is reached"},
    {.name = "Cluster-IP", .description = "Address inside the cluster"},
    {.name = "External-IP", .description = "Addresses outside the cluster"},
    {.name = "Port(s)", .description = "Ports, with the nodes' ports after a colon"},
    kAge,
    {.name = "Selector", .description = "Labels of the pods behind it", .priority = 1},
};

std::vector<std::string> load_balancer_addresses(const json::value& object) {
  std::set<std::string> out;
  for (const json::value& ingress : list(object, "Service.status.loadBalancer.ingress")) {
    const std::string address = text(ingress, "LoadBalancerIngress.ip",
                                     kube::text_at(ingress, "LoadBalancerIngress.hostname"));
    if (!address.empty()) out.insert(address);
  }
  return {out.begin(), out.end()};
}

std::string external_address(const json::value& service) {
  const std::string type = text(service, "Service.spec.type");
  if (type == "ExternalName") return text(service, "Service.spec.externalName");
  std::vector<std::string> out;
  if (type == "LoadBalancer")
    out = load_balancer_addresses(service);
  else if (type != "ClusterIP" && type != "NodePort")
    return "<unknown>";
  for (std::string& address : texts(list(service, "Service.spec.externalIPs")))
    out.push_back(std::move(address));
  if (out.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return join(out);
}

std::string ports(const json::value& service) {
  std::vector<std::string> out;
  for (const json::value& port : list(service, "Service.spec.ports")) {
    std::string piece = fmt::format("{}", number(port, "ServicePort.port"));
    if (const std::int64_t node = number(port, "ServicePort.nodePort"); node > 0)
      piece += fmt::format(":{}", node);
    out.push_back(piece + "/" + text(port, "ServicePort.protocol"));
  }
  return out.empty() ? "<none>" : join(out);
}

json::array service_cells(const json::value& service, WallTime now) {
  const auto addresses = texts(list(service, "Service.spec.clusterIPs"));
  return {name(service),
          text(service, "Service.spec.type"),
          addresses.empty() ? text(service, "Service.spec.clusterIP", "<none>") : addresses[0],
          external_address(service),
          ports(service),
          age(service, now),
          labels(service, "Service.spec.selector")};
}

constexpr TableColumn kEndpointsColumns[] = {
    kName,
    {.name = "Endpoints", .description = "Addresses and ports behind the service"},
    kAge,
};

std::string host_and_port(const std::string& host, std::int64_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

json::array endpoints_cells(const json::value& object, WallTime now) {
  std::vector<std::string> out;
  const json::array& subsets = list(object, "Endpoints.subsets");
  for (const json::value& subset : subsets) {
    const json::array& addresses = list(subset, "EndpointSubset.addresses");
    const json::array& numbers = list(subset, "EndpointSubset.ports");
    for (const json::value& port : numbers)
      for (const json::value& address : addresses)
        out.push_back(host_and_port(text(address, "EndpointAddress.ip"),
                                    number(port, "CoreEndpointPort.port")));
    if (!numbers.empty()) continue;
    for (const json::value& address : addresses) out.push_back(text(address, "EndpointAddress.ip"));
  }
  return {name(object), subsets.empty() ? "<none>" : join_some(out, kShown), age(object, now)};
}

constexpr TableColumn kEndpointSliceColumns[] = {
    kName,
    {.name = "AddressType", .description = "Kind of the addresses"},
    {.name = "Ports", .description = "Ports of every endpoint"},
    {.name = "Endpoints", .description = "Addresses of the endpoints"},
    kAge,
};

json::array endpoint_slice_cells(const json::value& slice, WallTime now) {
  std::vector<std::string> numbers;
  for (const json::value& port : list(slice, "EndpointSlice.ports")) {
    const std::string value = scalar(port, "DiscoveryEndpointPort.port");
    numbers.push_back(value.empty() ? text(port, "DiscoveryEndpointPort.name", "*") : value);
  }
  std::vector<std::string> addresses;
  for (const json::value& endpoint : list(slice, "EndpointSlice.endpoints"))
    for (std::string& address : texts(list(endpoint, "Endpoint.addresses")))
      addresses.push_back(std::move(address));
  return {name(slice), text(slice, "EndpointSlice.addressType"),
          numbers.empty() ? "<unset>" : join_some(numbers, kShown),
          addresses.empty() ? "<unset>" : join_some(addresses, kShown), age(slice, now)};
}

constexpr TableColumn kIngressColumns[] = {
    kName,
    {.name = "Class", .description = "Class whose controller serves it"},
    {.name = "Hosts", .description = "Host names it has rules for"},
    {.name = "Address", .description = "Where it is reached"},
    {.name = "Ports", .description = "Ports it is reached on"},
    kAge,
};

json::array ingress_cells(const json::value& ingress, WallTime now) {
  std::vector<std::string> hosts;
  for (const json::value& rule : list(ingress, "Ingress.spec.rules"))
    if (std::string host = text(rule, "IngressRule.host"); !host.empty())
      hosts.push_back(std::move(host));
  return {name(ingress),
          text(ingress, "Ingress.spec.ingressClassName", "<none>"),
          hosts.empty() ? "*" : join_some(hosts, kShown),
          join(load_balancer_addresses(ingress)),
          list(ingress, "Ingress.spec.tls").empty() ? "80" : "80, 443",
          age(ingress, now)};
}

constexpr TableColumn kIngressClassColumns[] = {
    kName,
    {.name = "Controller", .description = "Who serves ingresses of this class"},
    {.name = "Parameters", .description = "Where its settings are"},
    kAge,
};

json::array ingress_class_cells(const json::value& object, WallTime now) {
  std::string parameters = "<none>";
  if (kube::find(object, "IngressClass.spec.parameters")) {
    parameters = text(object, "IngressClass.spec.parameters.kind");
    const std::string group = text(object, "IngressClass.spec.parameters.apiGroup");
    if (!group.empty()) parameters += "." + group;
    parameters += "/" + text(object, "IngressClass.spec.parameters.name");
  }
  return {name(object), text(object, "IngressClass.spec.controller"), parameters, age(object, now)};
}

constexpr TableColumn kNetworkPolicyColumns[] = {
    kName,
    {.name = "Pod-Selector", .description = "Labels of the pods it is about"},
    kAge,
};

json::array network_policy_cells(const json::value& object, WallTime now) {
  return {name(object), selector(object, "NetworkPolicy.spec.podSelector"), age(object, now)};
}

}  // namespace

const TableView kServiceView{.columns = kServiceColumns, .cells = service_cells};
const TableView kEndpointsView{.columns = kEndpointsColumns, .cells = endpoints_cells};
const TableView kEndpointSliceView{.columns = kEndpointSliceColumns, .cells = endpoint_slice_cells};
const TableView kIngressView{.columns = kIngressColumns, .cells = ingress_cells};
const TableView kIngressClassView{.columns = kIngressClassColumns, .cells = ingress_class_cells};
const TableView kNetworkPolicyView{.columns = kNetworkPolicyColumns, .cells = network_policy_cells};

}  // namespace plim::local::apiserver
