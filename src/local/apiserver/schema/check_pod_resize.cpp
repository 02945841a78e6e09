// Checks a resize of a pod: only CPU and memory of its containers may change.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "kube/paths.hpp"
#include "kube/qos.hpp"
#include "local/apiserver/schema/checks.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kOnlyCpuAndMemory = "only cpu and memory resources are mutable";

bool is_removed(const json::value& now, const json::value& then, std::string_view list) {
  const json::object& left = object_at(now, {list});
  return std::ranges::any_of(object_at(then, {list}),
                             [&](const auto& entry) { return !left.contains(entry.key()); });
}

void check_kept(const json::value& now, const json::value& then, const std::string& path,
                std::string_view what, Causes& causes) {
  for (std::string_view list : {"requests", "limits"})
    if (is_removed(now, then, list))
      causes.forbidden(fmt::format("{}.{}", path, list),
                       fmt::format("{} {} cannot be removed", what, list));
}

// The amounts without CPU and memory; a missing map is an empty one.
json::value other_amounts(const json::value& resources) {
  json::object out;
  for (std::string_view list : {"limits", "requests"}) {
    json::object amounts = object_at(resources, {list});
    amounts.erase("cpu");
    amounts.erase("memory");
    out[list] = std::move(amounts);
  }
  out["claims"] = value_at(resources, {"claims"});
  return out;
}

json::value without_cpu_and_memory(const json::value& container) {
  json::value out = container;
  if (out.is_object())
    out.get_object()["resources"] = other_amounts(value_at(container, {"resources"}));
  return out;
}

bool check_order(const json::value& spec, const json::value& old, std::string_view list,
                 Causes& causes) {
  const json::array& now = list_at(spec, {list});
  const json::array& then = list_at(old, {list});
  const std::string path = fmt::format("spec.{}", list);
  if (now.size() != then.size()) {
    causes.forbidden(path, fmt::format("{} may not be added or removed on resize", list));
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (text_at(now[i], {"name"}) == text_at(then[i], {"name"})) continue;
    causes.forbidden(fmt::format("{}[{}].name", path, i),
                     fmt::format("{} may not be renamed or reordered on resize", list));
    same = false;
  }
  return same;
}

void check_amounts_kept(const json::value& spec, const json::value& old, std::string_view list,
                        Causes& causes) {
  const json::array& now = list_at(spec, {list});
  const json::array& then = list_at(old, {list});
  for (std::size_t i = 0; i < now.size(); ++i)
    check_kept(value_at(now[i], {"resources"}), value_at(then[i], {"resources"}),
               fmt::format("spec.{}[{}].resources", list, i), "resource", causes);
}

void check_containers(const json::value& spec, const json::value& old, Causes& causes) {
  const json::array& now = list_at(spec, {"containers"});
  const json::array& then = list_at(old, {"containers"});
  for (std::size_t i = 0; i < now.size(); ++i)
    if (without_cpu_and_memory(now[i]) != without_cpu_and_memory(then[i]))
      causes.forbidden("spec", kOnlyCpuAndMemory);
}

void check_init_containers(const json::value& spec, const json::value& old, Causes& causes) {
  const json::array& now = list_at(spec, {"initContainers"});
  const json::array& then = list_at(old, {"initContainers"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == then[i]) continue;
    const std::string path = fmt::format("spec.initContainers[{}]", i);
    if (without_cpu_and_memory(now[i]) != without_cpu_and_memory(then[i]))
      causes.forbidden(path,
                       "only cpu and memory resources for init or sidecar containers are mutable");
    if (text_at(now[i], {"restartPolicy"}) == "Always") continue;
    for (const json::value& policy : list_at(now[i], {"resizePolicy"}))
      if (text_at(policy, {"restartPolicy"}) == "RestartContainer")
        causes.forbidden(path,
                         "non-sidecar init containers with a resize policy of RestartContainer "
                         "cannot be resized");
  }
}

// Resources of the pod as a whole.
void check_pod_level(const json::value& spec, const json::value& old, Causes& causes) {
  const json::value& now = value_at(spec, {"resources"});
  const json::value& then = value_at(old, {"resources"});
  if (now.is_null() && then.is_null()) return;
  if (now.is_null())
    return causes.forbidden("spec.resources", "pod-level resources cannot be removed");
  check_kept(now, then, "spec.resources", "pod-level resource", causes);
  if (other_amounts(now) != other_amounts(then))
    causes.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
}

// Nodes that can resize report the resources of running containers.
bool is_supported(const json::value& pod) {
  for (const json::value& status : kube::list_at(pod, "Pod.status.containerStatuses"))
    if (kube::find(status, "ContainerStatus.state.running") != nullptr)
      return kube::find(status, "ContainerStatus.resources") != nullptr;
  return true;
}

}  // namespace

void check_pod_resize(const json::value& pod, const json::value& before, Causes& causes) {
  const json::value& spec = value_at(pod, {"spec"});
  const json::value& old = value_at(before, {"spec"});
  if (object_at(before, {"metadata", "annotations"}).contains(kMirror)) {
    causes = {};
    return causes.forbidden("", "static pods cannot be resized");
  }
  if (text_at(old, {"os", "name"}) == "windows") {
    causes = {};
    return causes.forbidden("", "windows pods cannot be resized");
  }
  const std::string_view qos = kube::text_at(before, "Pod.status.qosClass");
  if (kube::qos_class_of_spec(spec) != (qos.empty() ? kube::qos_class_of_spec(old) : qos))
    causes.invalid("spec", json::value(qos),
                   "Pod QOS Class may not change as a result of resizing");
  if (!is_supported(before))
    causes.forbidden("spec", "Pod running on node without support for resize");
  check_pod_level(spec, old, causes);
  const bool same_containers = check_order(spec, old, "containers", causes);
  if (!check_order(spec, old, "initContainers", causes) || !same_containers) return;
  check_amounts_kept(spec, old, "initContainers", causes);
  check_amounts_kept(spec, old, "containers", causes);
  check_containers(spec, old, causes);
  check_init_containers(spec, old, causes);
}

}  // namespace plim::local::apiserver
