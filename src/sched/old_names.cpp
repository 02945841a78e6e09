#include "sched/old_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace plim::sched {
namespace {

constexpr std::array kOldPlugins{
    OldPlugin{"NodeResourcesLeastAllocated", PluginId::NodeResourcesFit,
              placement::FitStrategy::LeastAllocated},
    OldPlugin{"NodeResourcesMostAllocated", PluginId::NodeResourcesFit,
              placement::FitStrategy::MostAllocated},
    OldPlugin{"RequestedToCapacityRatio", PluginId::NodeResourcesFit,
              placement::FitStrategy::RequestedToCapacityRatio},
    OldPlugin{.name = "NodePreferAvoidPods"},
    OldPlugin{.name = "SelectorSpread"},
    OldPlugin{.name = "ServiceAffinity"},
    OldPlugin{.name = "NodeLabel"},
    OldPlugin{.name = "NodeResourceLimits"},
    OldPlugin{.name = "EBSLimits", .now = PluginId::NodeVolumeLimits, .refused_in_v1 = true},
    OldPlugin{.name = "GCEPDLimits", .now = PluginId::NodeVolumeLimits, .refused_in_v1 = true},
    OldPlugin{.name = "AzureDiskLimits", .now = PluginId::NodeVolumeLimits, .refused_in_v1 = true},
    OldPlugin{.name = "CinderLimits", .now = PluginId::NodeVolumeLimits, .refused_in_v1 = true},
};

constexpr auto kPolicyNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"ImageLocalityPriority", "ImageLocality"},
    {"LeastRequestedPriority", "NodeResourcesFit"},
    {"MostRequestedPriority", "NodeResourcesFit with scoringStrategy MostAllocated"},
    {"RequestedToCapacityRatioPriority",
     "NodeResourcesFit with scoringStrategy RequestedToCapacityRatio"},
    {"BalancedResourceAllocation", "NodeResourcesBalancedAllocation"},
    {"SelectorSpreadPriority", "PodTopologySpread"},
    {"ServiceSpreadingPriority", "PodTopologySpread"},
    {"EvenPodsSpreadPriority", "PodTopologySpread"},
    {"InterPodAffinityPriority", "InterPodAffinity"},
    {"NodeAffinityPriority", "NodeAffinity"},
    {"NodePreferAvoidPodsPriority", "TaintToleration"},
    {"TaintTolerationPriority", "TaintToleration"},
    {"PodFitsResources", "NodeResourcesFit"},
    {"PodFitsHostPorts", "NodePorts"},
    {"PodFitsPorts", "NodePorts"},
    {"HostName", "NodeName"},
    {"MatchNodeSelector", "NodeAffinity"},
    {"MatchInterPodAffinity", "InterPodAffinity"},
    {"NoDiskConflict", "VolumeRestrictions"},
    {"NoVolumeZoneConflict", "VolumeZone"},
    {"CheckVolumeBinding", "VolumeBinding"},
    {"MaxCSIVolumeCountPred", "NodeVolumeLimits"},
    {"MaxEBSVolumeCount", "NodeVolumeLimits"},
    {"MaxGCEPDVolumeCount", "NodeVolumeLimits"},
    {"MaxAzureDiskVolumeCount", "NodeVolumeLimits"},
    {"PodToleratesNodeTaints", "TaintToleration"},
    {"CheckNodeUnschedulable", "NodeUnschedulable"},
    {"EvenPodsSpread", "PodTopologySpread"},
});

}  // namespace

const OldPlugin* find_old_plugin(std::string_view name) {
  const auto found = std::ranges::find(kOldPlugins, name, &OldPlugin::name);
  return found == kOldPlugins.end() ? nullptr : &*found;
}

std::string_view successor_of_policy(std::string_view name) {
  for (const auto& [old, now] : kPolicyNames)
    if (old == name) return now;
  return {};
}

}  // namespace plim::sched
