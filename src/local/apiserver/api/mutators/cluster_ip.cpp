// Gives Services an address in 127.96.0.0/16, which is on loopback, and node ports if they ask for
// them.
#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"

namespace plim::local::apiserver {
namespace {

constexpr int kTries = 200;
constexpr std::uint64_t kAddresses = 65'533;  // without .0.0, .0.1 (the API's) and .255.255
constexpr std::uint64_t kFirstPort = 30'000, kPorts = 2'768;

// Searches text instead of trees: there may be many Services, and matches are rare.
bool is_taken(const Core& core, const Kind& services, std::string_view text) {
  for (const store::EntryPtr& entry : core.store.view().list(services.prefix).entries)
    if (entry->value->find(text) != std::string::npos) return true;
  return false;
}

ApiResult<std::string> free_address(const Core& core, const Kind& services) {
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t n = core.random.below(kAddresses) + 2;
    std::string address = fmt::format("127.96.{}.{}", n / 256, n % 256);
    if (!is_taken(core, services, fmt::format("\"clusterIP\":\"{}\"", address))) return address;
  }
  return fail(Code::internal, "no free address for the service");
}

ApiResult<void> set_node_ports(const Core& core, const Kind& services, json::object& spec) {
  json::value* ports = spec.if_contains("ports");
  if (!ports || !ports->is_array()) return {};
  for (json::value& port : ports->get_array()) {
    if (!port.is_object() || kube::int_at(port, "ServicePort.nodePort").value_or(0) != 0) continue;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t number = kFirstPort + core.random.below(kPorts);
      if (is_taken(core, services, fmt::format("\"nodePort\":{}", number))) continue;
      port.get_object()["nodePort"] = number;
      break;
    }
  }
  return {};
}

// If a request omits allocated values, the Service keeps them.
void keep_allocated(const json::value& before, json::object& spec) {
  constexpr kube::AnyPath kAllocated[] = {"Service.spec.clusterIP", "Service.spec.clusterIPs",
                                          "Service.spec.ipFamilies", "Service.spec.ipFamilyPolicy"};
  for (kube::AnyPath path : kAllocated)
    if (const json::value* found = kube::find(before, path); found && !spec.contains(path.key()))
      spec[path.key()] = *found;
}

}  // namespace

ApiResult<void> set_cluster_ip(const Core& core, Admission& admission) {
  json::object& spec = kube::make_object(admission.object, "Service.spec");
  const std::string type(kube::text_at(admission.object, "Service.spec.type"));
  if (type == "ExternalName") return {};
  if (!admission.before.is_null()) keep_allocated(admission.before, spec);
  std::string address(kube::text_at(admission.object, "Service.spec.clusterIP"));
  const bool is_new = admission.before.is_null();
  if (address.empty()) {
    PLIM_TRY(address, free_address(core, *admission.kind));
  } else if (is_new && address != "None" &&
             is_taken(core, *admission.kind, fmt::format("\"clusterIP\":\"{}\"", address))) {
    return invalid(
        *admission.kind, kube::name_of(admission.object),
        {{"FieldValueInvalid",
          fmt::format("Invalid value: [\"{}\"]: failed to allocate IP {}: provided IP is "
                      "already allocated",
                      address, address),
          "spec.clusterIPs"}});
  }
  spec["clusterIP"] = address;
  spec["clusterIPs"] = json::array{json::value(address)};
  if (!spec.contains("ipFamilies")) spec["ipFamilies"] = json::array{"IPv4"};
  if (!spec.contains("ipFamilyPolicy")) spec["ipFamilyPolicy"] = "SingleStack";
  if (type == "NodePort" || type == "LoadBalancer")
    return set_node_ports(core, *admission.kind, spec);
  return {};
}

}  // namespace plim::local::apiserver
