#include "local/kubelet/runtime/pod_resources.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {
namespace {

constexpr std::string_view kLists[] = {"initContainers", "containers"};

const json::value* amount_in(const json::value& resources, std::string_view list,
                             std::string_view resource) {
  return find(resources, {list, resource});
}

bool differs(const json::value& a, const json::value& b, std::string_view resource) {
  for (std::string_view list : {"requests", "limits"}) {
    const json::value* left = amount_in(a, list, resource);
    const json::value* right = amount_in(b, list, resource);
    if ((left == nullptr) != (right == nullptr) || (left != nullptr && *left != *right))
      return true;
  }
  return false;
}

Quantity quantity_in(const json::value& value) {
  if (!value.is_string()) return {};
  return parse_quantity(std::string_view(value.get_string())).value_or(Quantity());
}

// A missing limit means no limit, which is larger than any. A missing request is zero.
json::object larger_amounts(const json::object& a, const json::object& b, std::string_view list) {
  json::object out;
  for (const auto& entry : a) {
    const json::value* other = b.if_contains(entry.key());
    if (other == nullptr && list == "limits") continue;
    const bool is_larger = other == nullptr || quantity_in(entry.value()) > quantity_in(*other);
    out[entry.key()] = is_larger ? entry.value() : *other;
  }
  if (list == "limits") return out;
  for (const auto& entry : b)
    if (!out.contains(entry.key())) out[entry.key()] = entry.value();
  return out;
}

const json::object& amounts_in(const json::value& resources, std::string_view list) {
  static const json::object none;
  const json::value* found = find(resources, {list});
  return found != nullptr && found->is_object() ? found->get_object() : none;
}

json::array summary_of(const json::value& pod, std::string_view list) {
  json::array out;
  for (const json::value& container : list_at(pod, {"spec", list})) {
    const json::value* resources = kube::find(container, "Container.resources");
    out.push_back(json::object{{"name", kube::text_at(container, "Container.name")},
                               {"resources", resources ? *resources : json::object()}});
  }
  return out;
}

}  // namespace

json::object resources_of(const json::value& pod) {
  json::object out;
  for (std::string_view list : kLists)
    for (const json::value& container : list_at(pod, {"spec", list})) {
      const json::value* resources = kube::find(container, "Container.resources");
      out[kube::text_at(container, "Container.name")] =
          resources != nullptr ? *resources : json::value(json::object());
    }
  return out;
}

json::value with_resources(json::value pod, const json::object& resources) {
  for (std::string_view list : kLists) {
    json::value* containers = nullptr;
    if (json::value* spec = pod.is_object() ? pod.get_object().if_contains("spec") : nullptr;
        spec != nullptr && spec->is_object())
      containers = spec->get_object().if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      if (!container.is_object()) continue;
      const json::value* given = resources.if_contains(kube::text_at(container, "Container.name"));
      if (given != nullptr) container.get_object()["resources"] = *given;
    }
  }
  return pod;
}

json::object larger_resources(const json::object& a, const json::object& b) {
  json::object out;
  for (const auto& entry : a) {
    const json::value* other = b.if_contains(entry.key());
    if (other == nullptr) {
      out[entry.key()] = entry.value();
      continue;
    }
    json::object larger;
    for (std::string_view list : {"limits", "requests"})
      larger[list] =
          larger_amounts(amounts_in(entry.value(), list), amounts_in(*other, list), list);
    out[entry.key()] = std::move(larger);
  }
  return out;
}

bool frees_resources(const json::value& from, const json::value& to) {
  for (std::string_view resource : {"cpu", "memory"})
    if (pod_amount(to, "requests", resource) < pod_amount(from, "requests", resource)) return true;
  return false;
}

bool needs_restart(const json::value& container, const json::value& from, const json::value& to) {
  for (const json::value& policy : kube::list_at(container, "Container.resizePolicy"))
    if (kube::text_at(policy, "ContainerResizePolicy.restartPolicy") == "RestartContainer" &&
        differs(from, to, kube::text_at(policy, "ContainerResizePolicy.resourceName")))
      return true;
  return false;
}

std::string resize_message(std::string_view prefix, const json::value& pod, std::int64_t generation,
                           std::string_view error) {
  json::object summary;
  for (std::string_view list : kLists)
    if (json::array containers = summary_of(pod, list); !containers.empty())
      summary[list] = std::move(containers);
  summary["generation"] = generation;
  if (!error.empty()) summary["error"] = error;
  return fmt::format("{}: {}", prefix, to_json(summary));
}

}  // namespace plim::local::kubelet
