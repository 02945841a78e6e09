// Whether a pod that comes, goes or changes may let another pass the plugin that refused it: asked
// of the rules themselves, so that pods which have nothing to do with each other wake nobody.
#pragma once

#include "kube/types.hpp"
#include "sched/cluster.hpp"
#include "sched/cluster_event.hpp"
#include "sched/profile.hpp"

namespace plim::sched {

// may_help(), and more about pods. It may say yes too often, but never no when it does help.
bool may_help(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod, Cluster& cluster);

}  // namespace plim::sched
