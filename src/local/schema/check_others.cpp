#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "local/schema/checks.hpp"
#include "local/schema/name_rules.hpp"

namespace plim::local {
namespace {

constexpr std::size_t kMaxDataBytes = 1024 * 1024;

void check_service_ports(const json::value& spec, Causes& causes) {
  const json::array& ports = array_at(spec, {"ports"});
  std::set<std::string, std::less<>> names;
  std::size_t index = 0;
  for (const json::value& port : ports) {
    std::string place = fmt::format("spec.ports[{}]", index++);
    std::string_view name = text_at(port, {"name"});
    if (name.empty()) {
      if (ports.size() > 1) causes.required(place + ".name");
    } else {
      causes.invalid_text(place + ".name", name, check_dns_label(name));
      if (!names.emplace(name).second) causes.duplicate(place + ".name", name);
    }
    check_port(port, "port", place, causes);
    check_protocol(port, place, causes);
    const json::value& target = value_at(port, {"targetPort"});
    if (target.is_string())
      causes.invalid_text(place + ".targetPort", target.get_string(),
                          check_port_name(target.get_string()));
    else
      check_port(port, "targetPort", place, causes);
  }
}

// Keys, and how much there may be of it all.
std::size_t check_entries(const json::value& object, std::string_view field, Causes& causes) {
  std::size_t bytes = 0;
  for (const auto& entry : object_at(object, {field})) {
    std::string_view key = entry.key();
    causes.invalid_text(fmt::format("{}[{}]", field, key), key, check_config_key(key));
    if (entry.value().is_string()) bytes += entry.value().get_string().size();
  }
  return bytes;
}

void check_still_sealed(const json::value& object, const json::value& before,
                        std::initializer_list<std::string_view> fields, Causes& causes) {
  if (!bool_at(before, {"immutable"})) return;
  constexpr std::string_view kSealed = "field is immutable when `immutable` is set";
  if (!bool_at(object, {"immutable"})) causes.forbidden("immutable", kSealed);
  for (std::string_view field : fields)
    if (value_at(object, {field}) != value_at(before, {field}))
      causes.forbidden(std::string(field), kSealed);
}

}  // namespace

void check_service(const json::value& service, const json::value* /*before*/, Causes& causes) {
  const json::value& spec = value_at(service, {"spec"});
  std::string_view type = text_at(spec, {"type"});
  bool is_known =
      type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer" || type == "ExternalName";
  if (!is_known)
    causes.not_supported("spec.type", type,
                         {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  bool is_headless = text_at(spec, {"clusterIP"}) == "None";
  if (array_at(spec, {"ports"}).empty() && !is_headless && type != "ExternalName")
    causes.required("spec.ports");
  if (type == "ExternalName" && text_at(spec, {"externalName"}).empty())
    causes.required("spec.externalName");
  check_service_ports(spec, causes);
  check_labels(find(spec, {"selector"}), "spec.selector", causes);
}

void check_config_map(const json::value& map, const json::value* before, Causes& causes) {
  std::size_t bytes = check_entries(map, "data", causes);
  bytes += check_entries(map, "binaryData", causes) / 4 * 3;
  const json::object& binary = object_at(map, {"binaryData"});
  for (const auto& entry : object_at(map, {"data"}))
    if (binary.contains(entry.key()))
      causes.invalid(fmt::format("data[{}]", std::string_view(entry.key())),
                     json::value(entry.key()), "duplicate of key present in binaryData");
  if (bytes > kMaxDataBytes) causes.too_long("", kMaxDataBytes);
  if (before != nullptr) check_still_sealed(map, *before, {"data", "binaryData"}, causes);
}

void check_secret(const json::value& secret, const json::value* before, Causes& causes) {
  std::size_t bytes = check_entries(secret, "data", causes) / 4 * 3;
  if (bytes > kMaxDataBytes) causes.too_long("data", kMaxDataBytes);
  if (before == nullptr) return;
  check_immutable(secret, *before, {"type"}, causes);
  check_still_sealed(secret, *before, {"data"}, causes);
}

void check_priority_class(const json::value& object, const json::value* before, Causes& causes) {
  if (before == nullptr) return;
  check_immutable(object, *before, {"value"}, causes);
  check_immutable(object, *before, {"preemptionPolicy"}, causes);
}

void check_role_binding(const json::value& binding, const json::value* before, Causes& causes) {
  if (text_at(binding, {"roleRef", "name"}).empty()) causes.required("roleRef.name");
  std::string_view kind = text_at(binding, {"roleRef", "kind"});
  if (kind != "Role" && kind != "ClusterRole")
    causes.not_supported("roleRef.kind", kind, {"Role", "ClusterRole"});
  const json::value& role = value_at(binding, {"roleRef"});
  if (before != nullptr && role != value_at(*before, {"roleRef"}))
    causes.invalid("roleRef", role, "cannot change roleRef");
}

void check_binding(const json::value& binding, const json::value* /*before*/, Causes& causes) {
  std::string_view kind = text_at(binding, {"target", "kind"});
  if (!kind.empty() && kind != "Node")
    causes.not_supported("target.kind", kind, {"Node", "<empty>"});
  if (text_at(binding, {"target", "name"}).empty()) causes.required("target.name");
}

}  // namespace plim::local
