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

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, " "));
}

}  // namespace

CacheDifference compare_cache(const SchedulerState& state, const kube::Store<kube::Node>& nodes,
                              const kube::Store<kube::Pod>& pods) {
  const Cluster& cluster = state.engine().cluster();
  Names watched, cached;
  for (const auto& [key, node] : nodes) watched.insert(node->meta.name);
  for (const NodeIndex row : cluster.table().live()) cached.insert(cluster.table().name(row));
  CacheDifference out;
  out.missed_nodes = without(watched, cached);
  out.redundant_nodes = without(cached, watched);
  watched.clear();
  cached.clear();
  for (const auto& [key, pod] : pods)
    if (!pod->spec.node_name.empty() || state.is_ours(*pod)) watched.insert(pod->meta.uid);
  for (NodeIndex row = 0; row < cluster.table().rows(); ++row)
    for (const auto& record : cluster.pods_on(row)) cached.insert(record->pod->meta.uid);
  for (const WaitingPod& one : state.queue().waiting()) cached.insert(one.pod->meta.uid);
  out.missed_pods = without(watched, cached);
  out.redundant_pods = without(cached, watched);
  return out;
}

void log_cache(const SchedulerState& state, const CacheDifference& difference, Klog& klog) {
  const Cluster& cluster = state.engine().cluster();
  for (const NodeIndex row : cluster.table().live()) {
    std::vector<std::string> pods;
    for (const auto& record : cluster.pods_on(row)) {
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
