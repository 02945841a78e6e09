// Finds the address of a ready pod of a Service, as a proxy would.
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/admission/webhook_caller.hpp"

namespace plim::local::apiserver {
namespace {

const kube::Resource kEndpointSlices{.group = "discovery.k8s.io",
                                     .version = "v1",
                                     .plural = "endpointslices",
                                     .kind = "EndpointSlice"};

std::string host_and_port(std::string_view host, std::int64_t port) {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port)
                                     : fmt::format("[{}]:{}", host, port);
}

// The number of the port with this name in an Endpoints subset or an EndpointSlice.
std::optional<std::int64_t> port_named(const json::value& holder, std::string_view name) {
  for (const json::value& port : kube::list_at(holder, "EndpointSubset.ports"))
    if (kube::text_at(port, "CoreEndpointPort.name") == name)
      return kube::int_at(port, "CoreEndpointPort.port");
  return std::nullopt;
}

std::string in_slices(const json::value& slices, std::string_view port_name) {
  for (const json::value& slice : kube::list_at(slices, "ObjectList.items")) {
    const auto port = port_named(slice, port_name);
    if (!port) continue;
    for (const json::value& endpoint : kube::list_at(slice, "EndpointSlice.endpoints")) {
      const json::value* ready = kube::find(endpoint, "Endpoint.conditions.ready");
      if (ready && ready->is_bool() && !ready->get_bool()) continue;
      const json::array& addresses = kube::list_at(endpoint, "Endpoint.addresses");
      if (!addresses.empty() && addresses[0].is_string())
        return host_and_port(addresses[0].get_string(), *port);
    }
  }
  return "";
}

std::string in_endpoints(const json::value& endpoints, std::string_view port_name) {
  for (const json::value& subset : kube::list_at(endpoints, "Endpoints.subsets")) {
    const auto port = port_named(subset, port_name);
    const json::array& addresses = kube::list_at(subset, "EndpointSubset.addresses");
    if (port && !addresses.empty())
      return host_and_port(kube::text_at(addresses[0], "EndpointAddress.ip"), *port);
  }
  return "";
}

}  // namespace

Task<Result<std::string>> find_endpoint(std::shared_ptr<kube::Client> api, std::string ns,
                                        std::string service, int port) {
  const kube::ObjectPath path{.ns = ns, .name = service};
  auto got = co_await api->get(kube::resources::services, path);
  if (!got && got.error().code == Code::not_found)
    co_return fail(Code::not_found, fmt::format("service {} not found", quote(service)));
  PLIM_CO_TRY(json::value object, std::move(got));
  if (kube::text_at(object, "Service.spec.type") == "ExternalName")
    co_return host_and_port(kube::text_at(object, "Service.spec.externalName"), port);
  std::optional<std::string> port_name;
  for (const json::value& candidate : kube::list_at(object, "Service.spec.ports"))
    if (kube::int_at(candidate, "ServicePort.port") == port)
      port_name = kube::text_at(candidate, "ServicePort.name");
  if (!port_name)
    co_return fail(Code::unavailable,
                   fmt::format("no service port {} found for service {}", port, quote(service)));

  const kube::ListOptions options{.ns = ns,
                                  .label_selector = "kubernetes.io/service-name=" + service};
  auto slices = co_await api->list(kEndpointSlices, options);
  std::string found = slices ? in_slices(*slices, *port_name) : "";
  if (found.empty()) {
    auto endpoints = co_await api->get(kube::resources::endpoints, path);
    if (endpoints) found = in_endpoints(*endpoints, *port_name);
  }
  if (found.empty())
    co_return fail(Code::unavailable,
                   fmt::format("no endpoints available for service {}", quote(service)));
  co_return found;
}

}  // namespace plim::local::apiserver
