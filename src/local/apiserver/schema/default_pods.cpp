#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "kube/qos.hpp"
#include "local/apiserver/schema/default_hooks.hpp"

namespace plim::local::apiserver {
namespace {

std::string_view text_in(const json::object& object, std::string_view field) {
  const json::value* value = object.if_contains(field);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : "";
}

// An image without tag and digest has the tag "latest".
std::string_view pull_policy(std::string_view image) {
  auto [name, digest] = cut(image, '@');
  auto slash = name.rfind('/');
  std::string_view last = slash == name.npos ? name : name.substr(slash + 1);
  std::string_view tag = cut(last, ':').second;
  bool is_latest = tag == "latest" || (tag.empty() && digest.empty() && !image.empty());
  return is_latest ? "Always" : "IfNotPresent";
}

void default_requests(json::object& container) {
  json::object& resources = object_in(container, "resources");
  json::value* limits = resources.if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return;
  json::object entries = limits->get_object();
  add_missing_entries(entries, object_in(resources, "requests"));
}

void default_host_ports(json::object& container) {
  json::value* ports = container.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (json::value& port : ports->get_array()) {
    if (!port.is_object()) continue;
    // 0 means no port, and is not printed.
    std::int64_t inside = int_at(port, {"containerPort"}).value_or(0);
    if (inside != 0) set_if_unset(port.get_object(), "hostPort", inside);
  }
}

void default_pod_containers(json::object& spec, std::string_view list) {
  json::value* containers = spec.if_contains(list);
  if (containers == nullptr || !containers->is_array()) return;
  bool shares_host_network = !is_unset(spec, "hostNetwork");
  for (json::value& container : containers->get_array()) {
    if (!container.is_object()) continue;
    default_requests(container.get_object());
    if (shares_host_network) default_host_ports(container.get_object());
  }
}

// podIP is the first of podIPs. A client may send only one of the two; if both differ, podIP wins.
void match_addresses(json::object& status) {
  const std::string one(text_in(status, "podIP"));
  const json::value* list = status.if_contains("podIPs");
  std::string first;
  if (list != nullptr && list->is_array() && !list->get_array().empty())
    first = text_at(list->get_array().front(), {"ip"});
  if (one.empty() && !first.empty())
    status["podIP"] = first;
  else if (!one.empty() && first != one)
    status["podIPs"] = json::array{json::object{{"ip", one}}};
}

// Pods only: templates keep a negative grace period.
void default_grace(json::object& spec) {
  const json::value* grace = spec.if_contains("terminationGracePeriodSeconds");
  if (grace != nullptr && grace->is_int64() && grace->get_int64() < 0)
    spec["terminationGracePeriodSeconds"] = 1;
}

}  // namespace

void default_pod(json::object& pod) {
  json::object& spec = object_in(pod, "spec");
  default_grace(spec);
  default_pod_containers(spec, "containers");
  default_pod_containers(spec, "initContainers");
  // False is a valid choice here, so only a missing value is set.
  if (!spec.contains("enableServiceLinks")) spec["enableServiceLinks"] = true;
  json::object& status = object_in(pod, "status");
  set_if_unset(status, "phase", "Pending");
  match_addresses(status);
  if (is_unset(status, "qosClass")) {
    json::value qos(kube::qos_class_of_spec(pod["spec"]));
    status["qosClass"] = std::move(qos);
  }
}

void default_pod_spec(json::object& spec) {
  std::string name(text_in(spec, "serviceAccountName"));
  if (name.empty()) name = text_in(spec, "serviceAccount");
  if (name.empty()) return;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
}

void default_container(json::object& container) {
  set_if_unset(container, "imagePullPolicy", json::value(pull_policy(text_in(container, "image"))));
}

void default_volume(json::object& volume) {
  std::size_t sources = volume.size() - (volume.contains("name") ? 1 : 0);
  if (sources == 0) volume["emptyDir"] = json::object();
  json::value* image = volume.if_contains("image");
  if (image == nullptr || !image->is_object()) return;
  std::string_view reference = text_in(image->get_object(), "reference");
  json::value policy(pull_policy(reference));
  set_if_unset(image->get_object(), "pullPolicy", std::move(policy));
}

}  // namespace plim::local::apiserver
