#include "sched/needs.hpp"

#include <algorithm>

namespace plim::sched {
namespace {

bool runs(const Profile& profile, PluginId plugin) {
  const auto among = [&](const std::vector<PluginId>& plugins) {
    return std::ranges::find(plugins, plugin) != plugins.end();
  };
  return among(profile.pre_filter) || among(profile.filter) || among(profile.post_filter) ||
         std::ranges::find(profile.score, plugin, &WeightedPlugin::plugin) != profile.score.end();
}

}  // namespace

Needs needs_of(const Configuration& config) {
  Needs out;
  for (const ProfileConfig& each : config.profiles) {
    const Profile& profile = each.profile;
    out.namespaces |= runs(profile, PluginId::InterPodAffinity);
    out.owners |= runs(profile, PluginId::PodTopologySpread);
    for (const PluginId plugin :
         {PluginId::VolumeRestrictions, PluginId::VolumeBinding, PluginId::VolumeZone})
      out.storage |= runs(profile, plugin);
    out.budgets |= runs(profile, PluginId::DefaultPreemption);
  }
  return out;
}

}  // namespace plim::sched
