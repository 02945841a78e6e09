#include "placement/single_node.hpp"

#include <algorithm>
#include <utility>

#include "kube/host_port.hpp"
#include "placement/fit.hpp"
#include "placement/pod_requests.hpp"

namespace plim::placement {

NodeDemands::NodeDemands(const kube::Pod& pod) : node_name_(pod.spec.node_name.view()) {
  RuleReader reader(label_ids_);
  affinity_ = reader.affinity(pod);
  selector_ = reader.node_selector(pod);
  tolerations_ = reader.tolerations(pod);
}

bool NodeDemands::accept_name(const kube::Node& node) const {
  return node_name_.empty() || node_name_ == node.meta.name;
}

bool NodeDemands::accept_labels(const kube::Node& node) const {
  return selector_->matches(label_ids_, node) && rules().required_match(label_ids_, node);
}

bool NodeDemands::tolerate(const kube::Node& node, std::string_view effect) const {
  return std::ranges::all_of(node.taints, [&](const kube::Taint& taint) {
    return taint.effect != effect || kube::tolerated(*tolerations_, taint);
  });
}

std::vector<Shortage> find_shortages(const kube::Pod& pod, const kube::Node& node,
                                     std::span<const kube::Pod> there) {
  NodeTable table;
  const NodeIndex row = table.set(node);
  NodeResources& resources = table.resources();
  ResourceNames& names = resources.names();
  const PodRequests wanted = requests_of(pod, names);
  for (const kube::Pod& other : there) table.count(row, requests_of(other, names), 1);
  resources.make_columns();
  std::vector<Shortage> out;
  const auto compare = [&](std::string_view resource, std::int64_t requested, std::int64_t used,
                           std::int64_t capacity) {
    if (requested > capacity - used)
      out.push_back({std::string(resource), requested, used, capacity});
  };
  compare("pods", 1, resources.pods()[row], resources.pod_limit()[row]);
  for (const auto& [id, amount] : needed_resources(wanted, FitArgs(), table))
    compare(names.name(id), amount, resources.requested(id)[row], resources.allocatable(id)[row]);
  return out;
}

bool host_ports_are_free(const kube::Pod& pod, std::span<const kube::Pod> there) {
  const std::vector<kube::HostPort> wanted = kube::host_ports(pod);
  if (wanted.empty()) return true;
  return std::ranges::none_of(there, [&](const kube::Pod& other) {
    const std::vector<kube::HostPort> taken = kube::host_ports(other);
    return std::ranges::any_of(
        wanted, [&](const kube::HostPort& port) { return port.clashes_with_any(taken); });
  });
}

}  // namespace plim::placement
