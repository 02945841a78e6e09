// Whether something that happened may let a pod pass the plugin that refused it: asked of the rules
// themselves, so that what has nothing to do with a pod does not wake it. The answers are those of
// kube-scheduler 1.34's hints, and yes in a few cases more, where its no would be a mistake.
#pragma once

#include "kube/types.hpp"
#include "sched/cluster_event.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// It may say yes too often, but never no when it does help.
bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
              ClusterTables& cluster, const Profile& profile);

// The part of it that is about nodes that come, go or change; queue_hints_nodes.cpp.
bool node_may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod,
                   ClusterTables& cluster, const Profile& profile);

// What the pod asks for and NodeResourcesFit looks at.
std::vector<std::pair<placement::ResourceId, std::int64_t>> wanted_resources(
    const kube::Pod& pod, ClusterTables& cluster, const Profile& profile);

}  // namespace plim::sched
