#include "placement/plugin_table.hpp"

#include <algorithm>
#include <array>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

constexpr std::array<std::string_view, kPointCount> kPointNames{
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore",   "score",
    "reserve",    "permit",    "preBind",   "bind",   "postBind",   "multiPoint",
};

constexpr std::array<Plugin, kPluginCount> kPlugins = [] {
  using enum PluginId;
  using enum Point;
  return std::array<Plugin, kPluginCount>{{
      {.id = SchedulingGates, .name = "SchedulingGates", .points = {PreEnqueue}},
      {.id = PrioritySort, .name = "PrioritySort", .points = {QueueSort}},
      {.id = NodeName,
       .name = "NodeName",
       .points = {PreFilter, Filter},
       .make_filter = make_node_name_filter,
       .filter_reads = Reads::row,
       .filters_alone = true},
      {.id = NodeUnschedulable,
       .name = "NodeUnschedulable",
       .points = {PreFilter, Filter},
       .make_filter = make_unschedulable_filter,
       .filter_reads = Reads::row,
       .filters_alone = true},
      {.id = TaintToleration,
       .name = "TaintToleration",
       .points = {PreFilter, Filter, PreScore, Score},
       .weight = 3,
       .make_filter = make_taint_filter,
       .filter_reads = Reads::row,
       .filters_alone = true,
       .score = score_taints},
      {.id = NodeAffinity,
       .name = "NodeAffinity",
       .points = {PreFilter, Filter, PreScore, Score},
       .weight = 2,
       .make_filter = make_node_affinity_filter,
       .filter_reads = Reads::row,
       .score = score_node_affinity},
      {.id = NodePorts,
       .name = "NodePorts",
       .points = {PreFilter, Filter},
       .make_filter = make_ports_filter,
       .filter_reads = Reads::row},
      {.id = NodeResourcesFit,
       .name = "NodeResourcesFit",
       .points = {PreFilter, Filter, PreScore, Score},
       .weight = 1,
       .make_filter = make_fit_filter,
       .filter_reads = Reads::row,
       .score = score_fit,
       .score_reads = Reads::row},
      {.id = VolumeRestrictions,
       .name = "VolumeRestrictions",
       .points = {PreFilter, Filter},
       .make_filter = make_volume_restrictions_filter},
      {.id = NodeVolumeLimits,
       .name = "NodeVolumeLimits",
       .points = {PreFilter, Filter},
       .make_filter = make_volume_limits_filter},
      {.id = VolumeBinding,
       .name = "VolumeBinding",
       .points = {PreFilter, Filter, PreScore, Score, Reserve, PreBind},
       .make_filter = make_volume_binding_filter,
       .score = score_volume_binding},
      {.id = VolumeZone,
       .name = "VolumeZone",
       .points = {PreFilter, Filter},
       .make_filter = make_volume_zone_filter},
      {.id = PodTopologySpread,
       .name = "PodTopologySpread",
       .points = {PreFilter, Filter, PreScore, Score},
       .weight = 2,
       .make_filter = make_spread_filter,
       .score = score_spread},
      {.id = InterPodAffinity,
       .name = "InterPodAffinity",
       .points = {PreFilter, Filter, PreScore, Score},
       .weight = 2,
       .make_filter = make_inter_pod_filter,
       .score = score_inter_pod},
      {.id = DynamicResources,
       .name = "DynamicResources",
       .points = {PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind},
       .weight = 2,
       .make_filter = make_dynamic_resources_filter,
       .score = score_no_claims},
      {.id = DefaultPreemption, .name = "DefaultPreemption", .points = {PreEnqueue, PostFilter}},
      {.id = NodeResourcesBalancedAllocation,
       .name = "NodeResourcesBalancedAllocation",
       .points = {PreScore, Score},
       .weight = 1,
       .score = score_balanced,
       .score_reads = Reads::row},
      // It filters too, but not as part of a profile: Search adds this filter after all others.
      {.id = ImageLocality,
       .name = "ImageLocality",
       .points = {Score},
       .weight = 1,
       .make_filter = make_images_filter,
       .score = score_locality,
       .score_reads = Reads::row_and_images},
      {.id = DefaultBinder, .name = "DefaultBinder", .points = {Bind}},
      {.id = NodeDeclaredFeatures,
       .name = "NodeDeclaredFeatures",
       .points = {PreFilter, Filter},
       .make_filter = make_declared_features_filter,
       .filter_reads = Reads::row},
  }};
}();

constexpr bool rows_follow_ids() {
  for (std::size_t row = 0; row < kPluginCount; ++row)
    if (kPlugins[row].id != static_cast<PluginId>(row)) return false;
  return true;
}

static_assert(rows_follow_ids(), "plugins are found by their number");

}  // namespace

std::span<const Plugin, kPluginCount> plugin_table() {
  return kPlugins;
}

const Plugin& plugin_row(PluginId plugin) {
  return kPlugins[static_cast<std::size_t>(plugin)];
}

std::string_view name_of(PluginId plugin) {
  return plugin_row(plugin).name;
}

std::optional<PluginId> plugin_named(std::string_view name) {
  const auto found = std::ranges::find(kPlugins, name, &Plugin::name);
  if (found == kPlugins.end()) return std::nullopt;
  return found->id;
}

std::string_view name_of(Point point) {
  return kPointNames[static_cast<std::size_t>(point)];
}

bool implements(PluginId plugin, Point point) {
  return plugin_row(plugin).points.has(point);
}

}  // namespace plim::placement
