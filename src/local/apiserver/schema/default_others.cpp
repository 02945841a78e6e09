#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "local/apiserver/schema/default_hooks.hpp"
#include "local/apiserver/schema/member_order.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::int64_t kAffinitySeconds = 10800;

const json::object* object_field(const json::object& object, std::string_view field) {
  const json::value* value = object.if_contains(field);
  return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

}  // namespace

void default_service(json::object& service) {
  json::object& spec = object_in(service, "spec");
  set_if_unset(spec, "type", "ClusterIP");
  set_if_unset(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"] == "None") spec.erase("sessionAffinityConfig");
  if (spec["sessionAffinity"] == "ClientIP")
    set_if_unset(object_in(object_in(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds",
                 kAffinitySeconds);
  bool is_external = spec["type"] == "NodePort" || spec["type"] == "LoadBalancer";
  bool has_external_ips = spec["type"] == "ClusterIP" && !is_unset(spec, "externalIPs");
  if (is_external || has_external_ips) set_if_unset(spec, "externalTrafficPolicy", "Cluster");
  if (spec["type"] != "ExternalName") set_if_unset(spec, "internalTrafficPolicy", "Cluster");
  if (spec["type"] == "LoadBalancer" && !spec.contains("allocateLoadBalancerNodePorts"))
    spec["allocateLoadBalancerNodePorts"] = true;
}

void default_service_port(json::object& port) {
  if (const json::value* number = port.if_contains("port"))
    set_if_unset(port, "targetPort", json::value(*number));
}

// stringData is write-only: it is merged into data.
void default_secret(json::object& secret) {
  const json::object* texts = object_field(secret, "stringData");
  if (texts == nullptr) return;
  json::object moved = *texts;
  secret.erase("stringData");
  json::object& data = object_in(secret, "data");
  for (const auto& entry : moved)
    if (entry.value().is_string())
      data[entry.key()] = base64_encode(std::string_view(entry.value().get_string()));
  sort_map(data);
}

void default_namespace(json::object& space) {
  json::object& metadata = object_in(space, "metadata");
  if (is_unset(metadata, "name")) return;
  json::value name = metadata["name"];
  json::object& labels = object_in(metadata, "labels");
  labels["kubernetes.io/metadata.name"] = std::move(name);
  sort_map(labels);
}

void default_node_spec(json::object& spec) {
  if (is_unset(spec, "podCIDR") || !is_unset(spec, "podCIDRs")) return;
  json::value first = spec["podCIDR"];
  spec["podCIDRs"] = json::array{std::move(first)};
}

void default_node_status(json::object& status) {
  if (const json::object* capacity = object_field(status, "capacity")) {
    json::value copy = *capacity;
    set_if_unset(status, "allocatable", std::move(copy));
  }
}

void default_limit_range_item(json::object& item) {
  if (!item.contains("type") || item["type"] != "Container") return;
  json::object limits = object_in(item, "default");
  if (const json::object* most = object_field(item, "max")) add_missing_entries(*most, limits);
  json::object requests = object_in(item, "defaultRequest");
  add_missing_entries(limits, requests);
  if (const json::object* least = object_field(item, "min")) add_missing_entries(*least, requests);
  item["default"] = std::move(limits);
  item["defaultRequest"] = std::move(requests);
  for (std::string_view field : {"default", "defaultRequest"})
    if (is_unset(item, field)) item.erase(field);
}

void default_device_request(json::object& request) {
  set_if_unset(request, "allocationMode", "ExactCount");
  if (request["allocationMode"] == "ExactCount") set_if_unset(request, "count", 1);
}

void default_subject(json::object& subject) {
  if (!subject.contains("kind")) return;
  if (subject["kind"] == "User" || subject["kind"] == "Group")
    set_if_unset(subject, "apiGroup", "rbac.authorization.k8s.io");
}

void default_network_policy_spec(json::object& spec) {
  json::array types{"Ingress"};
  if (!is_unset(spec, "egress")) types.emplace_back("Egress");
  set_if_unset(spec, "policyTypes", std::move(types));
}

void default_custom_resource_definition(json::object& definition) {
  json::object& spec = object_in(definition, "spec");
  json::object& names = object_in(spec, "names");
  if (!is_unset(names, "kind") && names["kind"].is_string()) {
    std::string kind(names["kind"].get_string());
    set_if_unset(names, "singular", json::value(to_lower(kind)));
    set_if_unset(names, "listKind", json::value(kind + "List"));
  }
  json::value* versions = spec.if_contains("versions");
  if (versions == nullptr || !versions->is_array()) return;
  for (const json::value& version : versions->get_array())
    if (bool_at(version, {"storage"})) {
      json::value name(text_at(version, {"name"}));
      set_if_unset(object_in(definition, "status"), "storedVersions", json::array{std::move(name)});
      break;
    }
}

}  // namespace plim::local::apiserver
