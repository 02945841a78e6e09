#include "sched/cache_check.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::sched {
namespace {

using Names = std::set<std::string>;

std::vector<std::string> without(const Names& all, const Names& these) {
  std::vector<std::string> out;
  std::ranges::set_difference(all, these, std::back_inserter(out));
  return out;
}

std::vector<std::string> in_both(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, " "));
}

}  // namespace

void ListedCluster::add(const kube::Pod& pod, const SchedulerState& state) {
  if (!pod.spec.node_name.empty() || (!pod.meta.deleted && state.is_ours(pod)))
    pods.insert(pod.meta.uid);
}

CacheDifference compare_cache(const SchedulerState& state, const ListedCluster& listed) {
  const ClusterTables& cluster = state.engine().cluster();
  Names nodes, pods;
  for (const NodeIndex row : cluster.table().live()) nodes.insert(cluster.table().name(row));
  for (NodeIndex row = 0; row < cluster.table().rows(); ++row)
    for (const auto& record : cluster.pods().on(row)) pods.insert(record->pod->meta.uid);
  for (const WaitingPod& one : state.queue().waiting())
    if (!one.pod->meta.deleted) pods.insert(one.pod->meta.uid);
  CacheDifference out;
  out.missed_nodes = without(listed.nodes, nodes);
  out.redundant_nodes = without(nodes, listed.nodes);
  out.missed_pods = without(listed.pods, pods);
  out.redundant_pods = without(pods, listed.pods);
  return out;
}

CacheDifference common(const CacheDifference& a, const CacheDifference& b) {
  return {.missed_nodes = in_both(a.missed_nodes, b.missed_nodes),
          .redundant_nodes = in_both(a.redundant_nodes, b.redundant_nodes),
          .missed_pods = in_both(a.missed_pods, b.missed_pods),
          .redundant_pods = in_both(a.redundant_pods, b.redundant_pods)};
}

void dump_cache(const SchedulerState& state, Klog& klog) {
  const ClusterTables& cluster = state.engine().cluster();
  for (const NodeIndex row : cluster.table().live()) {
    std::vector<std::string> pods;
    for (const auto& record : cluster.pods().on(row)) {
      const kube::ObjectMeta& meta = record->pod->meta;
      pods.push_back(kube::object_key(meta) + (state.is_assumed(meta.uid) ? "(assumed)" : ""));
    }
    klog.append(
        "Dump of cached NodeInfo",
        {{"node", cluster.table().name(row)}, {"podCount", pods.size()}, {"pods", listed(pods)}});
  }
  for (const WaitingPod& one : state.queue().waiting()) {
    std::vector<std::string> plugins;
    for (const PluginId plugin : one.rejected_by) plugins.emplace_back(name_of(plugin));
    if (one.by_extender) plugins.emplace_back("Extender");
    klog.append("Dump of scheduling queue", {{"pod", kube::object_key(one.pod->meta)},
                                             {"queue", one.place},
                                             {"rejectedBy", listed(plugins)}});
  }
  klog.flush();
}

void log_difference(const SchedulerState& state, const CacheDifference& difference, Klog& klog) {
  if (!difference.missed_nodes.empty() || !difference.redundant_nodes.empty())
    klog.append("Cache mismatch", {{"missedNodes", listed(difference.missed_nodes)},
                                   {"redundantNodes", listed(difference.redundant_nodes)}});
  if (!difference.missed_pods.empty() || !difference.redundant_pods.empty())
    klog.append("Cache mismatch", {{"missedPods", listed(difference.missed_pods)},
                                   {"redundantPods", listed(difference.redundant_pods)}});
  if (difference.none())
    klog.append("Cache comparer finished",
                {{"nodes", state.engine().node_count()}, {"pods", state.engine().pod_count()}});
  klog.flush();
}

}  // namespace plim::sched
