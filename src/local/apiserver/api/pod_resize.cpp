#include "local/apiserver/api/pod_resize.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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

}  // namespace

ApiResult<void> check_resize_fits(const Core& core, const Admission& admission) {
  const json::value& pod = admission.object;
  const std::string_view name = kube::text_at(pod, "Pod.spec.nodeName");
  const json::value* before = kube::find(admission.before, "Pod.spec");
  if (name.empty() || (before && *before == pod.at("spec"))) return {};
  const KindPtr nodes = core.kinds.find("", "v1", "nodes");
  const store::EntryPtr entry = core.store.get(nodes->key("", name));
  if (!entry)
    return forbidden(*admission.kind, admission.name, fmt::format("node \"{}\" not found", name));
  const json::value node = decode_object(*entry->value);
  std::string shortages;
  for (std::string_view resource : {"cpu", "memory"}) {
    const Quantity wanted = requested(pod, resource);
    const Quantity there = quantity_at(kube::find(node, "Node.status.allocatable", resource));
    if (wanted <= there) continue;
    const bool is_cpu = resource == "cpu";
    shortages += fmt::format("{}{}, requested: {}, allocatable: {}", shortages.empty() ? "" : "; ",
                             resource, is_cpu ? wanted.milli_value() : wanted.value(),
                             is_cpu ? there.milli_value() : there.value());
  }
  if (shortages.empty()) return {};
  ApiError error = forbidden(*admission.kind, admission.name,
                             "node didn't have enough allocatable resources: " + shortages);
  error.details->causes.push_back({"NodeCapacity", "", ""});
  return error;
}

}  // namespace plim::local::apiserver
