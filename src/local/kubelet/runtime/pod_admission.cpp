#include "local/kubelet/runtime/pod_admission.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "kube/decode.hpp"
#include "kube/paths.hpp"
#include "placement/single_node.hpp"

namespace plim::local::kubelet {
namespace {

// A missing request counts as the limit, as the API server fills it in.
void request_limits(std::vector<kube::Container>& containers) {
  for (kube::Container& container : containers)
    for (const auto& [name, amount] : container.limits)
      if (std::ranges::none_of(container.requests,
                               [&](const auto& one) { return one.first == name; }))
        container.requests.emplace_back(name, amount);
}

Result<kube::Pod> read_pod(const json::value& object, kube::InternPool& pool) {
  std::string text = to_json(object);
  PLIM_TRY(kube::Pod pod, kube::decode_pod(kube::JsonText(text), pool));
  request_limits(pod.spec.containers);
  request_limits(pod.spec.init_containers);
  return pod;
}

// The device manager counts devices when it allocates them.
bool counts_here(const placement::Shortage& shortage) {
  constexpr std::string_view kCounted[] = {"pods", "cpu", "memory", "ephemeral-storage"};
  return std::ranges::find(kCounted, shortage.resource) != std::end(kCounted);
}

std::optional<PodFailure> check_resources(const kube::Pod& pod, const kube::Node& node,
                                          const std::vector<kube::Pod>& others) {
  if (node.allocatable.empty()) return std::nullopt;
  const auto shortages = placement::find_shortages(pod, node, others);
  const auto first = std::ranges::find_if(shortages, counts_here);
  if (first == shortages.end()) return std::nullopt;
  return PodFailure{
      fmt::format("OutOf{}", first->resource),
      fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                  first->resource, first->requested, first->used, first->capacity)};
}

std::optional<PodFailure> check_pod(const kube::Pod& pod, const kube::Node& node,
                                    const std::vector<kube::Pod>& others) {
  if (auto failure = check_resources(pod, node, others)) return failure;
  if (!placement::NodeDemands(pod).accept_labels(node))
    return PodFailure{"NodeAffinity",
                      "Predicate NodeAffinity failed: node(s) didn't match Pod's node "
                      "affinity/selector"};
  if (!placement::host_ports_are_free(pod, others))
    return PodFailure{"NodePorts",
                      "Predicate NodePorts failed: node(s) didn't have free ports for the "
                      "requested pod ports"};
  return std::nullopt;
}

}  // namespace

bool is_active(const json::value& pod) {
  const std::string_view phase = kube::text_at(pod, "Pod.status.phase");
  return phase != "Succeeded" && phase != "Failed";
}

namespace {

using Judge = std::optional<PodFailure> (*)(const kube::Pod&, const kube::Node&,
                                            const std::vector<kube::Pod>&);

std::optional<PodFailure> judge_pod(const json::value& pod, const json::value& node,
                                    const std::vector<json::value>& others, Judge judge) {
  kube::InternPool pool;
  std::string node_text = to_json(node);
  const auto own = kube::decode_node(kube::JsonText(node_text), pool);
  const auto wanted = read_pod(pod, pool);
  // The API server has validated both; an object that cannot be read has no demands.
  if (!own || !wanted) return std::nullopt;
  std::vector<kube::Pod> there;
  there.reserve(others.size());
  for (const json::value& other : others)
    if (auto read = read_pod(other, pool)) there.push_back(std::move(*read));
  return judge(*wanted, *own, there);
}

void drop_status(json::value& pod) {
  if (pod.is_object()) pod.get_object().erase("status");
}

}  // namespace

std::optional<PodFailure> refuse_pod(const json::value& pod, const json::value& node,
                                     const std::vector<json::value>& others) {
  return judge_pod(pod, node, others, check_pod);
}

// Statuses show earlier allocations; the specs have the current ones.
std::optional<PodFailure> refuse_resize(json::value pod, const json::value& node,
                                        std::vector<json::value> others) {
  drop_status(pod);
  for (json::value& other : others) drop_status(other);
  return judge_pod(pod, node, others, check_resources);
}

}  // namespace plim::local::kubelet
