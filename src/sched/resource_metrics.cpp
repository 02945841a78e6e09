#include "sched/resource_metrics.hpp"

#include <fmt/format.h>

#include "base/exposition.hpp"
#include "placement/pod_requests.hpp"

namespace plim::sched {
namespace {

std::string_view unit_of(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-"))
    return "bytes";
  if (resource.starts_with("attachable-volumes-")) return "integer";
  return "";
}

void add_amounts(const kube::Pod& pod, const placement::ResourceAmounts& amounts,
                 metrics::Exposition::Family& out) {
  for (const auto& [name, amount] : amounts) {
    if (amount.is_zero()) continue;
    out.sample({{"namespace", std::string(pod.meta.ns)},
                {"pod", pod.meta.name},
                {"node", std::string(pod.spec.node_name)},
                {"scheduler", std::string(pod.spec.scheduler_name)},
                {"priority", fmt::format("{}", pod.spec.priority)},
                {"resource", std::string(name)},
                {"unit", std::string(unit_of(name))}},
               amount.approximate());
  }
}

}  // namespace

std::string expose_pod_resources(const kube::Store<kube::Pod>& pods) {
  metrics::Exposition out;
  auto requests = out.family("kube_pod_resource_request", "What a pod asks for, by resource.",
                             metrics::Type::gauge);
  auto limits = out.family("kube_pod_resource_limit", "What a pod may use at most, by resource.",
                           metrics::Type::gauge);
  for (const auto& [key, pod] : pods) {
    if (pod->status.phase == "Succeeded" || pod->status.phase == "Failed") continue;
    add_amounts(*pod, placement::asked_amounts(*pod), requests);
    add_amounts(*pod, placement::limited_amounts(*pod), limits);
  }
  return out.text();
}

}  // namespace plim::sched
