#include "placement/profile.hpp"

#include <algorithm>
#include <array>

namespace plim::placement {
namespace {

constexpr std::array<std::string_view, kPluginCount> kPluginNames{
    "SchedulingGates",
    "PrioritySort",
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
};

}  // namespace

std::string_view name_of(PluginId plugin) {
  return kPluginNames[static_cast<std::size_t>(plugin)];
}

std::optional<PluginId> plugin_named(std::string_view name) {
  const auto found = std::ranges::find(kPluginNames, name);
  if (found == kPluginNames.end()) return std::nullopt;
  return static_cast<PluginId>(found - kPluginNames.begin());
}

Profile default_profile() {
  using enum PluginId;
  Profile profile;
  profile.pre_enqueue = {SchedulingGates, DynamicResources, DefaultPreemption};
  profile.pre_filter = {NodeAffinity,     NodePorts,       NodeResourcesFit, VolumeRestrictions,
                        NodeVolumeLimits, VolumeBinding,   VolumeZone,       PodTopologySpread,
                        InterPodAffinity, DynamicResources};
  profile.filter = {NodeUnschedulable, NodeName, TaintToleration};
  profile.filter.insert(profile.filter.end(), profile.pre_filter.begin(), profile.pre_filter.end());
  profile.post_filter = {DynamicResources, DefaultPreemption};
  profile.pre_score = {TaintToleration,
                       NodeAffinity,
                       NodeResourcesFit,
                       VolumeBinding,
                       PodTopologySpread,
                       InterPodAffinity,
                       NodeResourcesBalancedAllocation};
  profile.score = {{TaintToleration, 3},
                   {NodeAffinity, 2},
                   {NodeResourcesFit, 1},
                   {VolumeBinding, 1},
                   {PodTopologySpread, 2},
                   {InterPodAffinity, 2},
                   {NodeResourcesBalancedAllocation, 1},
                   {ImageLocality, 1}};
  profile.reserve = {VolumeBinding, DynamicResources};
  profile.pre_bind = profile.reserve;
  profile.bind = {DefaultBinder};
  return profile;
}

}  // namespace plim::placement
