#include "sched/queue_hints.hpp"

#include <algorithm>

#include "placement/fit.hpp"

namespace plim::sched {
namespace {

// Matches with the labels of the pod's namespace or with none, as the filter does for an incoming
// pod.
bool term_matches(const placement::PodTerm& term, const kube::Pod& pod,
                  const ClusterTables& cluster) {
  return term.matches(pod, cluster.namespaces().labels(pod.meta.ns)) ||
         term.matches(pod, kube::Labels());
}

bool all_match(const std::vector<placement::PodTerm>& terms, const kube::Pod& pod,
               const ClusterTables& cluster) {
  return !terms.empty() && std::ranges::all_of(terms, [&](const placement::PodTerm& term) {
    return term_matches(term, pod, cluster);
  });
}

bool any_matches(const std::vector<placement::PodTerm>& terms, const kube::Pod& pod,
                 const ClusterTables& cluster) {
  return std::ranges::any_of(
      terms, [&](const placement::PodTerm& term) { return term_matches(term, pod, cluster); });
}

// Whether the pod matched a term and does not any more.
bool any_left(const std::vector<placement::PodTerm>& terms, const kube::Pod& before,
              const kube::Pod& now, const ClusterTables& cluster) {
  return std::ranges::any_of(terms, [&](const placement::PodTerm& term) {
    return term_matches(term, before, cluster) && !term_matches(term, now, cluster);
  });
}

bool affinity_may_change(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster) {
  const auto mine = cluster.rules().affinity(pod);
  const kube::Pod& other = *event.pod;
  // After the last pod that it has affinity to is gone, the first pod of a group may go anywhere.
  const auto may_be_first = [&](const kube::Pod& gone) {
    return all_match(mine->near, gone, cluster) && all_match(mine->near, pod, cluster);
  };
  switch (event.kind) {
    case EventKind::AssignedPodAdd:
      return all_match(mine->near, other, cluster);
    case EventKind::AssignedPodLabel:
      if (!event.pod_before) return true;
      return all_match(mine->near, other, cluster) !=
                 all_match(mine->near, *event.pod_before, cluster) ||
             any_left(mine->apart, *event.pod_before, other, cluster);
    case EventKind::AssignedPodDelete:
      return any_matches(mine->apart, other, cluster) || may_be_first(other) ||
             any_matches(cluster.rules().affinity(other)->apart, pod, cluster);
    default:
      return true;
  }
}

bool spread_may_change(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster) {
  if (event.kind != EventKind::AssignedPodAdd && event.kind != EventKind::AssignedPodLabel &&
      event.kind != EventKind::AssignedPodDelete)
    return true;
  if (event.pod->meta.ns != pod.meta.ns) return false;
  const auto spread = cluster.rules().spread(pod);
  if (spread->constraints.empty()) return true;  // default constraints apply, whose selectors vary
  return std::ranges::any_of(spread->constraints, [&](const placement::SpreadConstraint& one) {
    const bool is = one.selector.matches(event.pod->meta.labels);
    if (event.kind != EventKind::AssignedPodLabel || !event.pod_before) return is;
    const bool was = one.selector.matches(event.pod_before->meta.labels);
    // The values of matchLabelKeys may have changed too.
    return is != was || (is && !one.match_label_keys.empty());
  });
}

bool ports_may_be_free(const kube::Pod& gone, const kube::Pod& pod) {
  const std::vector<kube::HostPort> freed = kube::host_ports(gone);
  return std::ranges::any_of(kube::host_ports(pod), [&](const kube::HostPort& wanted) {
    return wanted.clashes_with_any(freed);
  });
}

// Whether another pod requests less than before of what this pod needs.
bool room_was_given_back(const ClusterEvent& event, const kube::Pod& pod, ClusterTables& cluster,
                         const Profile& profile) {
  if (event.kind != EventKind::AssignedPodScaleDown || !event.pod_before) return true;
  const placement::PodRequests before = placement::requests_of(
      *event.pod_before, cluster.table().resources().names(), cluster.release());
  const placement::PodRequests now =
      placement::requests_of(*event.pod, cluster.table().resources().names(), cluster.release());
  return std::ranges::any_of(wanted_resources(pod, cluster, profile), [&](const auto& wanted) {
    return now.of(wanted.first) < before.of(wanted.first);
  });
}

bool disk_may_be_free(const kube::Pod& gone, const kube::Pod& pod) {
  for (const kube::PodVolume& mine : pod.spec.volumes)
    for (const kube::PodVolume& other : gone.spec.volumes) {
      if (!mine.disk.empty() && !other.disk.empty() &&
          placement::disks_clash(mine.disk, other.disk))
        return true;
      if (!mine.claim.empty() && mine.claim == other.claim && gone.meta.ns == pod.meta.ns)
        return true;
    }
  return false;
}

bool had_volumes(const kube::Pod& gone) {
  return std::ranges::any_of(gone.spec.volumes, [](const kube::PodVolume& one) {
    return !one.claim.empty() || one.ephemeral || !one.disk.empty();
  });
}

bool tolerates_unschedulable(const kube::Pod& pod, ClusterTables& cluster) {
  return kube::unschedulable_is_tolerated(*cluster.rules().tolerations(pod));
}

bool pod_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
                  ClusterTables& cluster, const Profile& profile) {
  switch (plugin) {
    case PluginId::InterPodAffinity:
      return affinity_may_change(event, pod, cluster);
    case PluginId::PodTopologySpread:
      return spread_may_change(event, pod, cluster);
    case PluginId::NodePorts:
      return ports_may_be_free(*event.pod, pod);
    case PluginId::NodeResourcesFit:
      return room_was_given_back(event, pod, cluster, profile);
    case PluginId::VolumeRestrictions:
      return disk_may_be_free(*event.pod, pod);
    case PluginId::NodeVolumeLimits:
      return had_volumes(*event.pod);
    case PluginId::NodeUnschedulable:
      return tolerates_unschedulable(pod, cluster);
    default:
      return true;
  }
}

}  // namespace

std::vector<std::pair<placement::ResourceId, std::int64_t>> wanted_resources(
    const kube::Pod& pod, ClusterTables& cluster, const Profile& profile) {
  NodeTable& table = cluster.table();
  return placement::needed_resources(
      placement::requests_of(pod, table.resources().names(), cluster.release()), profile.fit,
      table);
}

bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
              ClusterTables& cluster, const Profile& profile) {
  if (!may_help(plugin, event, pod)) return false;
  if (event.storage != nullptr) return storage_may_help(plugin, event, pod);
  if (event.pod != nullptr) return pod_may_help(plugin, event, pod, cluster, profile);
  if (event.node != nullptr || event.node_before != nullptr)
    return node_may_help(plugin, event, pod, cluster, profile);
  return true;
}

}  // namespace plim::sched
