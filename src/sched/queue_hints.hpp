// Whether an event may let a pod pass the plugin that rejected it. The hints compare the event with
// the pod's rules, so that unrelated events do not wake the pod. They answer like the hints of
// kube-scheduler, except for a few cases where its "no" is wrong.
#pragma once

#include "kube/types.hpp"
#include "sched/cluster_event.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// It may return true too often, but never false if the event helps.
bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
              ClusterTables& cluster, const Profile& profile);

// The part for nodes that are added, removed or changed; see queue_hints_nodes.cpp.
bool node_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
                   ClusterTables& cluster, const Profile& profile);

// The part for storage objects; see queue_hints_storage.cpp.
bool storage_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod);

// The requests of the pod that NodeResourcesFit checks.
std::vector<std::pair<placement::ResourceId, std::int64_t>> wanted_resources(
    const kube::Pod& pod, ClusterTables& cluster, const Profile& profile);

}  // namespace plim::sched
