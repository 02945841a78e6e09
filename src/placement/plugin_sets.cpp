#include "placement/plugin_sets.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "placement/plugin_table.hpp"

namespace plim::placement {
namespace {

constexpr std::int64_t kHighestScore = 100;

bool lists_plugin(const std::vector<PluginId>& list, PluginId plugin) {
  return std::ranges::find(list, plugin) != list.end();
}

const WeightedPlugin* find_plugin(const std::vector<WeightedPlugin>& list, PluginId plugin) {
  const auto found = std::ranges::find(list, plugin, &WeightedPlugin::plugin);
  return found == list.end() ? nullptr : &*found;
}

PluginSet merge_set(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet out{.enabled = {},
                .disabled = custom.disabled,
                .disables_all = custom.disables_all || defaults.disables_all};
  for (const PluginId plugin : defaults.disabled)
    if (!lists_plugin(out.disabled, plugin)) out.disabled.push_back(plugin);
  if (!out.disables_all) {
    for (const WeightedPlugin& usual : defaults.enabled) {
      const WeightedPlugin* again = find_plugin(custom.enabled, usual.plugin);
      if (again != nullptr)
        out.enabled.push_back(*again);
      else if (!lists_plugin(out.disabled, usual.plugin))
        out.enabled.push_back(usual);
    }
  }
  for (const WeightedPlugin& wanted : custom.enabled)
    if (find_plugin(out.enabled, wanted.plugin) == nullptr) out.enabled.push_back(wanted);
  return out;
}

std::vector<WeightedPlugin> expand_point(const PluginSets& sets, Point point) {
  const PluginSet& own = sets.at(point);
  if (own.disables_all) return own.enabled;
  std::vector<WeightedPlugin> general;
  for (const WeightedPlugin& plugin : sets.at(Point::MultiPoint).enabled)
    if (implements(plugin.plugin, point) && !lists_plugin(own.disabled, plugin.plugin))
      general.push_back(plugin);
  std::vector<WeightedPlugin> out;
  for (const WeightedPlugin& plugin : own.enabled)
    if (find_plugin(sets.at(Point::MultiPoint).enabled, plugin.plugin) != nullptr)
      out.push_back(plugin);
  for (const WeightedPlugin& plugin : general)
    if (find_plugin(own.enabled, plugin.plugin) == nullptr) out.push_back(plugin);
  for (const WeightedPlugin& plugin : own.enabled)
    if (find_plugin(out, plugin.plugin) == nullptr) out.push_back(plugin);
  return out;
}

std::vector<PluginId> plugins_of(const std::vector<WeightedPlugin>& list) {
  std::vector<PluginId> out;
  out.reserve(list.size());
  for (const WeightedPlugin& plugin : list) out.push_back(plugin.plugin);
  return out;
}

std::vector<WeightedPlugin> unweighted(std::initializer_list<PluginId> plugins) {
  std::vector<WeightedPlugin> out;
  for (const PluginId plugin : plugins) out.push_back({plugin, 0});
  return out;
}

Result<void> weigh_scores(std::vector<WeightedPlugin>& score) {
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (WeightedPlugin& plugin : score) {
    if (plugin.weight == 0) plugin.weight = 1;
    if (plugin.weight > room / kHighestScore)
      return fail(Code::invalid, "plugins.score: the sum of the weights is too large");
    room -= plugin.weight * kHighestScore;
  }
  return {};
}

}  // namespace

PluginSets default_sets(const Release& release) {
  using enum PluginId;
  PluginSets out;
  std::vector<WeightedPlugin>& enabled = out.at(Point::MultiPoint).enabled;
  for (const Plugin& plugin : plugin_table()) {
    if (plugin.id == NodeDeclaredFeatures && !release.checks_declared_features()) continue;
    const bool weighs = plugin.id != DynamicResources || release.scores_claims();
    enabled.push_back({plugin.id, weighs ? plugin.weight : 0});
  }
  if (!release.node_name_first()) {
    const auto place = [&](PluginId plugin) {
      return std::ranges::find(enabled, plugin, &WeightedPlugin::plugin);
    };
    std::iter_swap(place(NodeName), place(NodeUnschedulable));
  }
  return out;
}

PluginSets default_sets_before_multi_point(const Release& release) {
  using enum PluginId;
  const PluginSets all = default_sets(release);
  PluginSets out;
  for (std::size_t index = 0; index < kPointCount - 1; ++index) {
    const auto point = static_cast<Point>(index);
    out.at(point).enabled = expand_point(all, point);
    for (WeightedPlugin& plugin : out.at(point).enabled) plugin.weight = 0;
  }
  out.at(Point::PreScore).enabled =
      unweighted({InterPodAffinity, PodTopologySpread, TaintToleration, NodeAffinity,
                  NodeResourcesFit, NodeResourcesBalancedAllocation});
  out.at(Point::Score).enabled = {{NodeResourcesBalancedAllocation, 1},
                                  {ImageLocality, 1},
                                  {InterPodAffinity, 1},
                                  {NodeResourcesFit, 1},
                                  {NodeAffinity, 1},
                                  {PodTopologySpread, 2},
                                  {TaintToleration, 1}};
  return out;
}

PluginSets merge_sets(const PluginSets& defaults, const PluginSets& custom) {
  PluginSets out;
  for (std::size_t index = 0; index < kPointCount; ++index)
    out.points[index] = merge_set(defaults.points[index], custom.points[index]);
  return out;
}

Result<void> expand_sets(const PluginSets& merged, Profile& profile) {
  for (std::size_t index = 0; index < kPointCount - 1; ++index) {
    const auto point = static_cast<Point>(index);
    for (const WeightedPlugin& plugin : merged.at(point).enabled)
      if (!implements(plugin.plugin, point))
        return fail(Code::invalid, fmt::format("plugins.{}: {} does not run at this point",
                                               name_of(point), name_of(plugin.plugin)));
  }
  const auto plugins_at = [&](Point point) { return plugins_of(expand_point(merged, point)); };
  if (const auto sorts = plugins_at(Point::QueueSort); sorts.size() != 1)
    return fail(
        Code::invalid,
        fmt::format("plugins.queueSort: exactly one plugin is needed, found {}", sorts.size()));
  profile.pre_enqueue = plugins_at(Point::PreEnqueue);
  profile.pre_filter = plugins_at(Point::PreFilter);
  profile.filter = plugins_at(Point::Filter);
  profile.post_filter = plugins_at(Point::PostFilter);
  profile.pre_score = plugins_at(Point::PreScore);
  profile.reserve = plugins_at(Point::Reserve);
  profile.permit = plugins_at(Point::Permit);
  profile.pre_bind = plugins_at(Point::PreBind);
  profile.bind = plugins_at(Point::Bind);
  profile.post_bind = plugins_at(Point::PostBind);
  if (profile.bind.empty())
    return fail(Code::invalid, "plugins.bind: at least one plugin is needed");
  profile.score = expand_point(merged, Point::Score);
  if (!profile.release.scores_claims())
    std::erase_if(profile.score, [](const WeightedPlugin& scoring) {
      return scoring.plugin == PluginId::DynamicResources;
    });
  return weigh_scores(profile.score);
}

}  // namespace plim::placement
