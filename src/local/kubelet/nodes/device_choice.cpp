#include "local/kubelet/nodes/device_choice.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "kube/selector.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {

Result<void> check_extended_resource(std::string_view name) {
  auto [domain, rest] = cut(name, '/');
  const bool native =
      rest.empty() || domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
  if (native || name.starts_with("requests.") || !kube::check_label_key(name))
    return fail(Code::invalid,
                fmt::format("{} is not the name of an extended resource", quote(name)));
  return {};
}

std::vector<DeviceNeed> device_needs(const json::value& pod) {
  std::vector<DeviceNeed> out;
  constexpr kube::ListPath kInit = "Pod.spec.initContainers", kOthers = "Pod.spec.containers";
  for (kube::ListPath list : {kInit, kOthers}) {
    for (const json::value& container : kube::list_at(pod, list)) {
      const json::value* limits = kube::find(container, "Container.resources.limits");
      if (!limits || !limits->is_object()) continue;
      for (const auto& [resource, amount] : limits->get_object()) {
        if (!check_extended_resource(resource)) continue;
        const std::int64_t count = amount_of(container, "limits", resource).value();
        if (count <= 0) continue;
        constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
        out.push_back({.container = std::string(kube::text_at(container, "Container.name")),
                       .resource = resource,
                       .count = static_cast<std::int32_t>(std::min(count, kMost)),
                       .passed_on = list.keys() == kInit.keys() && !is_sidecar(container)});
      }
    }
  }
  return out;
}

DeviceIds choose_devices(const DeviceIds& free, const DeviceIds& must, const DeviceIds& preferred,
                         std::size_t count) {
  const std::set<std::string> allowed(free.begin(), free.end());
  std::set<std::string> out;
  for (const DeviceIds* list : {&must, &preferred, &free})
    for (const std::string& id : *list)
      if (out.size() < count && allowed.contains(id)) out.insert(id);
  return {out.begin(), out.end()};
}

}  // namespace plim::local::kubelet
