#include "sched/queue_hints.hpp"

#include <algorithm>

namespace plim::sched {
namespace {

// By the labels of its namespace, or by none, as the filter does for the terms of a pod that comes.
bool term_matches(const PodTerm& term, const kube::Pod& pod, const Cluster& cluster) {
  return term.matches(pod, cluster.namespace_labels(pod.meta.ns)) ||
         term.matches(pod, kube::Labels());
}

bool all_match(const std::vector<PodTerm>& terms, const kube::Pod& pod, const Cluster& cluster) {
  return !terms.empty() && std::ranges::all_of(terms, [&](const PodTerm& term) {
    return term_matches(term, pod, cluster);
  });
}

bool any_matches(const std::vector<PodTerm>& terms, const kube::Pod& pod, const Cluster& cluster) {
  return std::ranges::any_of(terms,
                             [&](const PodTerm& term) { return term_matches(term, pod, cluster); });
}

bool affinity_may_change(const ClusterEvent& event, const kube::Pod& pod, Cluster& cluster) {
  const auto mine = cluster.rules().affinity(pod);
  const kube::Pod& other = *event.pod;
  switch (event.kind) {
    case EventKind::AssignedPodAdd:
      return all_match(mine->near, other, cluster);
    case EventKind::AssignedPodLabel:
      return all_match(mine->near, other, cluster) ||
             (event.pod_before && any_matches(mine->apart, *event.pod_before, cluster));
    case EventKind::AssignedPodDelete:
      return any_matches(mine->apart, other, cluster) ||
             any_matches(cluster.rules().affinity(other)->apart, pod, cluster);
    default:
      return true;
  }
}

bool spread_may_change(const ClusterEvent& event, const kube::Pod& pod, Cluster& cluster) {
  if (event.kind != EventKind::AssignedPodAdd && event.kind != EventKind::AssignedPodLabel &&
      event.kind != EventKind::AssignedPodDelete)
    return true;
  if (event.pod->meta.ns != pod.meta.ns) return false;
  const auto spread = cluster.rules().spread(pod);
  if (spread->constraints.empty()) return true;  // by default constraints, whose selectors vary
  return std::ranges::any_of(spread->constraints, [&](const SpreadConstraint& one) {
    return one.selector.matches(event.pod->meta.labels) ||
           (event.pod_before && one.selector.matches(event.pod_before->meta.labels));
  });
}

bool ports_may_be_free(const kube::Pod& gone, const kube::Pod& pod, Cluster& cluster) {
  const std::vector<HostPort> freed = cluster.rules().host_ports(gone);
  return std::ranges::any_of(cluster.rules().host_ports(pod), [&](const HostPort& wanted) {
    return std::ranges::any_of(freed, [&](const HostPort& one) {
      return one.port == wanted.port && one.protocol == wanted.protocol;
    });
  });
}

}  // namespace

bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod, Cluster& cluster) {
  if (!may_help(plugin, event, pod)) return false;
  if (event.pod == nullptr) return true;
  switch (plugin) {
    case PluginId::InterPodAffinity:
      return affinity_may_change(event, pod, cluster);
    case PluginId::PodTopologySpread:
      return spread_may_change(event, pod, cluster);
    case PluginId::NodePorts:
      return ports_may_be_free(*event.pod, pod, cluster);
    default:
      return true;
  }
}

}  // namespace plim::sched
