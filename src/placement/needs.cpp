#include "placement/needs.hpp"

#include <algorithm>

namespace plim::placement {
namespace {

bool runs(const Profile& profile, PluginId plugin) {
  const auto among = [&](const std::vector<PluginId>& plugins) {
    return std::ranges::find(plugins, plugin) != plugins.end();
  };
  return among(profile.pre_filter) || among(profile.filter) || among(profile.post_filter) ||
         std::ranges::find(profile.score, plugin, &WeightedPlugin::plugin) != profile.score.end();
}

}  // namespace

Needs& Needs::operator|=(const Needs& other) {
  namespaces |= other.namespaces;
  owners |= other.owners;
  storage |= other.storage;
  binding |= other.binding;
  limits |= other.limits;
  budgets |= other.budgets;
  return *this;
}

Needs needs_of(const Profile& profile) {
  return {.namespaces = runs(profile, PluginId::InterPodAffinity),
          .owners = runs(profile, PluginId::PodTopologySpread),
          .storage = runs(profile, PluginId::VolumeRestrictions) ||
                     runs(profile, PluginId::VolumeBinding) ||
                     runs(profile, PluginId::VolumeZone) ||
                     runs(profile, PluginId::NodeVolumeLimits),
          .binding = runs(profile, PluginId::VolumeBinding),
          .limits = runs(profile, PluginId::NodeVolumeLimits),
          .budgets = runs(profile, PluginId::DefaultPreemption)};
}

}  // namespace plim::placement
