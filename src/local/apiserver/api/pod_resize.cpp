#include "local/apiserver/api/pod_resize.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quantity.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

Quantity quantity_at(const json::value* value) {
  if (!value || !value->is_string()) return {};
  return parse_quantity(std::string_view(value->get_string())).value_or(Quantity());
}

Quantity request_of(const json::value& container, std::string_view resource) {
  return quantity_at(kube::find(container, "Container.resources.requests", resource));
}

// What schedulers count: containers and sidecars together, or an init container with the sidecars
// before it, whichever is more. Requests of the whole pod replace that sum.
Quantity requested(const json::value& pod, std::string_view resource) {
  Quantity out;
  for (const json::value& container : kube::list_at(pod, "Pod.spec.containers"))
    out += request_of(container, resource);
  Quantity sidecars, most;
  for (const json::value& container : kube::list_at(pod, "Pod.spec.initContainers")) {
    most = std::max(most, sidecars + request_of(container, resource));
    if (kube::text_at(container, "Container.restartPolicy") == "Always")
      sidecars += request_of(container, resource);
  }
  out = std::max(out + sidecars, most);
  if (const json::value* whole = kube::find(pod, "Pod.spec.resources.requests", resource))
    out = quantity_at(whole);
  return out + quantity_at(kube::find(pod, "Pod.spec.overhead", resource));
}

json::value resources_of(const json::value& holder, kube::AnyPath path) {
  const json::value* found = kube::find(holder, path);
  return found ? *found : json::value();
}

// Resources of init containers that end. Validation has compared the names.
json::array resources_of_init_containers(const json::value& pod) {
  json::array out;
  for (const json::value& container : kube::list_at(pod, "Pod.spec.initContainers"))
    if (kube::text_at(container, "Container.restartPolicy") != "Always")
      out.push_back(resources_of(container, "Container.resources"));
  return out;
}

// The features that the node must declare for this change, as kube-apiserver 1.37 infers them.
std::vector<std::string_view> needed_features(const json::value& before, const json::value& pod) {
  std::vector<std::string_view> out;
  if (resources_of(before, "Pod.spec.resources") != resources_of(pod, "Pod.spec.resources"))
    out.emplace_back("InPlacePodLevelResourcesVerticalScaling");
  if (resources_of_init_containers(before) != resources_of_init_containers(pod))
    out.emplace_back("InPlacePodVerticalScalingInitContainers");
  return out;
}

bool declares(const json::value& node, std::string_view feature) {
  return std::ranges::any_of(
      kube::list_at(node, "Node.status.declaredFeatures"),
      [&](const json::value& one) { return one.is_string() && one.get_string() == feature; });
}

// "cpu, requested: 5000, allocatable: 4000"; "" if the pod fits on the node.
std::string shortages(const json::value& node, const json::value& pod) {
  std::string out;
  for (std::string_view resource : {"cpu", "memory"}) {
    const Quantity wanted = requested(pod, resource);
    const Quantity there = quantity_at(kube::find(node, "Node.status.allocatable", resource));
    if (wanted <= there) continue;
    const bool is_cpu = resource == "cpu";
    out += fmt::format("{}{}, requested: {}, allocatable: {}", out.empty() ? "" : "; ", resource,
                       is_cpu ? wanted.milli_value() : wanted.value(),
                       is_cpu ? there.milli_value() : there.value());
  }
  return out;
}

}  // namespace

ApiResult<void> check_resize(const Core& core, const Admission& admission) {
  const json::value& pod = admission.object;
  const std::string_view name = kube::text_at(pod, "Pod.spec.nodeName");
  const json::value* before = kube::find(admission.before, "Pod.spec");
  if (name.empty() || (before && *before == pod.at("spec"))) return {};
  const KindPtr nodes = core.kinds.find("", "v1", "nodes");
  const store::EntryPtr entry = core.store.get(nodes->key("", name));
  if (!entry)
    return forbidden(*admission.kind, admission.name, fmt::format("node \"{}\" not found", name));
  const json::value node = decode_object(*entry->value);
  std::vector<std::string_view> features = needed_features(admission.before, pod);
  std::erase_if(features, [&](std::string_view feature) { return declares(node, feature); });
  if (!features.empty())
    return forbidden(*admission.kind, admission.name,
                     fmt::format("pod update requires features {} which are not available on node "
                                 "\"{}\"",
                                 fmt::join(features, ", "), name));
  const std::string lacks = shortages(node, pod);
  if (lacks.empty()) return {};
  ApiError error = forbidden(*admission.kind, admission.name,
                             "node didn't have enough allocatable resources: " + lacks);
  error.details->causes.push_back({"NodeCapacity", "", ""});
  return error;
}

}  // namespace plim::local::apiserver
