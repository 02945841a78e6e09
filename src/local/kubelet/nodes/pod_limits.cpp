#include "local/kubelet/nodes/pod_limits.hpp"

#include <algorithm>
#include <array>

#include "kube/paths.hpp"

namespace plim::local::kubelet {
namespace {

using node::CgroupLimits;
using node::Qos;

constexpr std::array<kube::ListPath, 2> kLists{"Pod.spec.containers", "Pod.spec.initContainers"};

Quantity quantity_of(const json::value* value) {
  if (!value) return {};
  if (value->is_string()) return parse_quantity(value->get_string()).value_or(Quantity());
  if (value->is_int64()) return Quantity(value->get_int64());
  if (value->is_double()) return parse_quantity(to_json(*value)).value_or(Quantity());
  return {};
}

// A missing request counts as the limit. The API server fills it in, other sources of pods may
// not. A request of zero stays zero: CPUs of a pool are counted elsewhere.
Quantity request_of(const json::value& container, std::string_view resource) {
  const bool said = kube::find(container, "Container.resources.requests", resource) != nullptr;
  return amount_of(container, said ? "requests" : "limits", resource);
}

Quantity counted(const json::value& container, std::string_view list, std::string_view resource) {
  return list == "requests" ? request_of(container, resource)
                            : amount_of(container, list, resource);
}

bool all_limit(const json::value& pod, std::string_view resource) {
  for (kube::ListPath list : kLists)
    for (const json::value& container : kube::list_at(pod, list))
      if (amount_of(container, "limits", resource).is_zero()) return false;
  return true;
}

std::int64_t memory_limit(const Quantity& limit) {
  return limit.is_zero() ? CgroupLimits::kUnlimited : limit.value();
}

std::int64_t quota_limit(const Quantity& limit) {
  return limit.is_zero() ? CgroupLimits::kUnlimited : node::quota_us_of(limit.milli_value());
}

}  // namespace

Quantity amount_of(const json::value& container, std::string_view list, std::string_view resource) {
  const kube::MapPath amounts = list == "requests" ? kube::MapPath("Container.resources.requests")
                                                   : kube::MapPath("Container.resources.limits");
  return quantity_of(kube::find(container, amounts, resource));
}

const json::value* find_container(const json::value& pod, std::string_view name) {
  for (kube::ListPath list : kLists)
    for (const json::value& container : kube::list_at(pod, list))
      if (kube::text_at(container, "Container.name") == name) return &container;
  return nullptr;
}

bool is_sidecar(const json::value& init_container) {
  return kube::text_at(init_container, "Container.restartPolicy") == "Always";
}

Qos qos_of(const json::value& pod) {
  const std::string_view given = kube::text_at(pod, "Pod.status.qosClass");
  for (Qos qos : {Qos::guaranteed, Qos::burstable, Qos::best_effort})
    if (given == node::qos_name(qos)) return qos;
  bool any = false;
  bool guaranteed = true;
  for (kube::ListPath list : kLists) {
    for (const json::value& container : kube::list_at(pod, list)) {
      for (std::string_view resource : {"cpu", "memory"}) {
        const Quantity limit = amount_of(container, "limits", resource);
        const Quantity request = request_of(container, resource);
        any = any || !limit.is_zero() || !request.is_zero();
        guaranteed = guaranteed && !limit.is_zero() && request == limit;
      }
    }
  }
  if (!any) return Qos::best_effort;
  return guaranteed ? Qos::guaranteed : Qos::burstable;
}

Quantity pod_amount(const json::value& pod, std::string_view list, std::string_view resource) {
  Quantity together;
  Quantity sidecars;
  Quantity most;
  for (const json::value& container : kube::list_at(pod, "Pod.spec.containers"))
    together += counted(container, list, resource);
  for (const json::value& container : kube::list_at(pod, "Pod.spec.initContainers")) {
    const Quantity own = counted(container, list, resource);
    most = std::max(most, sidecars + own);
    if (is_sidecar(container)) sidecars += own;
  }
  Quantity out = std::max(together + sidecars, most);
  // A limit of zero means no limit; overhead alone does not create one.
  if (list == "requests" || !out.is_zero())
    out += quantity_of(kube::find(pod, "Pod.spec.overhead", resource));
  return out;
}

CgroupLimits pod_limits(const json::value& pod) {
  const Qos qos = qos_of(pod);
  CgroupLimits out{.shares = node::kMinShares,
                   .quota_us = CgroupLimits::kUnlimited,
                   .memory = CgroupLimits::kUnlimited};
  if (qos == Qos::best_effort) return out;
  out.shares = node::shares_of(pod_amount(pod, "requests", "cpu").milli_value());
  // A container without a limit may use the whole node, so its pod may too.
  if (all_limit(pod, "cpu")) out.quota_us = quota_limit(pod_amount(pod, "limits", "cpu"));
  if (all_limit(pod, "memory")) out.memory = memory_limit(pod_amount(pod, "limits", "memory"));
  return out;
}

CgroupLimits container_limits(const json::value& container) {
  return {.shares = node::shares_of(request_of(container, "cpu").milli_value()),
          .quota_us = quota_limit(amount_of(container, "limits", "cpu")),
          .memory = memory_limit(amount_of(container, "limits", "memory"))};
}

}  // namespace plim::local::kubelet
