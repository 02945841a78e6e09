// Services and their endpoints.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

// --- services

bool is_type(const Place& spec, std::string_view type) {
  return spec.text("type") == type;
}

void check_kind_of_service(const Place& spec, const json::value* /*before*/, Causes& causes) {
  bool is_headless = spec.text("clusterIP") == "None";
  if (spec.list("ports").empty() && !is_headless && !is_type(spec, "ExternalName"))
    causes.required(spec.path("ports"));
  if (is_headless && (is_type(spec, "LoadBalancer") || is_type(spec, "NodePort")))
    causes.invalid(spec.path("clusterIPs[0]"), json::value("None"),
                   fmt::format("may not be set to 'None' for {} services", spec.text("type")));
  if (!is_type(spec, "ExternalName")) return;
  std::string_view name = spec.text("externalName");
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) return causes.required(spec.path("externalName"));
  causes.invalid_text(spec.path("externalName"), name, check_dns_subdomain(name));
}

void check_port_has_name(const Place& port, const json::value* /*before*/, Causes& causes) {
  if (port.text("name").empty() && port.outer()->value().get_array().size() > 1)
    causes.required(port.path("name"));
}

constexpr Rule kServicePort[] = {
    custom(check_port_has_name),
    text("name", check_dns_label),
    unique("name"),
    range("port", 1, 65535),
    required("protocol"),
    one_of("protocol", "SCTP,TCP,UDP"),
    port("targetPort"),
    text("appProtocol", check_qualified_name),
};

void check_node_ports(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (!is_type(spec, "ClusterIP")) return;
  std::size_t index = 0;
  for (const json::value& port : spec.list("ports")) {
    if (int_at(port, {"nodePort"}).value_or(0) != 0)
      causes.forbidden(fmt::format("{}[{}].nodePort", spec.path("ports"), index),
                       "may not be used when `type` is 'ClusterIP'");
    ++index;
  }
}

// Upstream prints only the port, with the names of its Go struct.
void check_ports_differ(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const json::array& ports = spec.list("ports");
  for (std::size_t i = 0; i < ports.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (int_at(ports[i], {"port"}) != int_at(ports[earlier], {"port"}) ||
          text_at(ports[i], {"protocol"}) != text_at(ports[earlier], {"protocol"}))
        continue;
      const json::object shown = {{"Name", ""},
                                  {"Protocol", text_at(ports[i], {"protocol"})},
                                  {"AppProtocol", nullptr},
                                  {"Port", int_at(ports[i], {"port"}).value_or(0)},
                                  {"TargetPort", 0},
                                  {"NodePort", 0}};
      causes.duplicate(fmt::format("{}[{}]", spec.path("ports"), i), shown);
      break;
    }
}

// An allocated address must not change, except to none.
void check_address(const Place& spec, const json::value* before, Causes& causes) {
  if (before == nullptr || is_type(spec, "ExternalName")) return;
  const Place old(*before);
  if (old.text("type") == "ExternalName") return;
  const json::array& now = spec.list("clusterIPs");
  const json::array& then = old.list("clusterIPs");
  if (then.empty()) return;
  if (now.empty())
    causes.invalid(spec.path("clusterIPs[0]"), spec.member("clusterIPs"),
                   "primary clusterIP can not be unset");
  else if (now[0] != then[0])
    causes.invalid(spec.path("clusterIPs[0]"), spec.member("clusterIPs"),
                   "may not change once set");
}

constexpr Rule kServiceSpec[] = {
    custom(check_address),
    custom(check_kind_of_service),
    each("ports", kServicePort),
    labels("selector"),
    required("sessionAffinity"),
    one_of("sessionAffinity", "ClientIP,None"),
    required("type"),
    one_of("type", "ClusterIP,ExternalName,LoadBalancer,NodePort"),
    custom(check_node_ports),
    custom(check_ports_differ),
    one_of("externalTrafficPolicy", "Cluster,Local"),
    one_of("internalTrafficPolicy", "Cluster,Local"),
    one_of("trafficDistribution", "PreferClose,PreferSameZone,PreferSameNode"),
};

constexpr Rule kService[] = {inside("spec", kServiceSpec)};

// --- endpoint slices

constexpr Rule kEndpoint[] = {
    required("addresses"),
    text("nodeName", check_dns_subdomain),
    text("hostname", check_dns_label),
};

constexpr Rule kEndpointPort[] = {
    text("name", check_dns_label),
    unique("name"),
    one_of("protocol", "SCTP,TCP,UDP"),
    text("appProtocol", check_qualified_name),
};

constexpr Rule kEndpointSlice[] = {
    required("addressType"),      one_of("addressType", "FQDN,IPv4,IPv6"),
    each("ports", kEndpointPort), each("endpoints", kEndpoint),
    immutable("addressType"),
};

}  // namespace

constinit const RuleTable kServiceRules{kService};
constinit const RuleTable kEndpointSliceRules{kEndpointSlice};

}  // namespace plim::local::apiserver
