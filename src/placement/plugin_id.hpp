// Plugins and the points at which they run, by name. What each plugin does is in plugin_table.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plim::placement {
// NOLINTBEGIN(readability-identifier-naming): the names of kube-scheduler
// In the order of kube-scheduler's default set in 1.37, which is the order in which plugins run.
enum class PluginId : std::uint8_t {
  SchedulingGates,
  PrioritySort,
  NodeName,
  NodeUnschedulable,
  TaintToleration,
  NodeAffinity,
  NodePorts,
  NodeResourcesFit,
  VolumeRestrictions,
  NodeVolumeLimits,
  VolumeBinding,
  VolumeZone,
  PodTopologySpread,
  InterPodAffinity,
  DynamicResources,
  DefaultPreemption,
  NodeResourcesBalancedAllocation,
  ImageLocality,
  DefaultBinder,
  NodeDeclaredFeatures,
};
inline constexpr std::size_t kPluginCount =
    static_cast<std::size_t>(PluginId::NodeDeclaredFeatures) + 1;

std::string_view name_of(PluginId plugin);
std::optional<PluginId> plugin_named(std::string_view name);

enum class Point : std::uint8_t {
  PreEnqueue,
  QueueSort,
  PreFilter,
  Filter,
  PostFilter,
  PreScore,
  Score,
  Reserve,
  Permit,
  PreBind,
  Bind,
  PostBind,
  MultiPoint,  // all points that a plugin implements
};
inline constexpr std::size_t kPointCount = static_cast<std::size_t>(Point::MultiPoint) + 1;

std::string_view name_of(Point point);  // as in the file: "preFilter"
bool implements(PluginId plugin, Point point);
// NOLINTEND(readability-identifier-naming)
}  // namespace plim::placement
