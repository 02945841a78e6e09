// Which plugins a profile enables and disables at each extension point, and how the configuration
// is merged with the defaults. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

struct PluginSet {
  std::vector<WeightedPlugin> enabled;  // weight 0: not given
  std::vector<PluginId> disabled;
  bool disables_all = false;  // '*'

  bool operator==(const PluginSet&) const = default;
};

struct PluginSets {
  std::array<PluginSet, kPointCount> points;

  PluginSet& at(Point point) { return points[static_cast<std::size_t>(point)]; }

  const PluginSet& at(Point point) const { return points[static_cast<std::size_t>(point)]; }

  bool operator==(const PluginSets&) const = default;
};

// The defaults of v1 and v1beta3: everything through multiPoint.
PluginSets default_sets(const Release& release = {});
// The defaults of v1beta1 and v1beta2, which do not have multiPoint.
PluginSets default_sets_before_multi_point(const Release& release = {});

// Merges the user's set into the default one: removes disabled defaults, keeps the place of
// defaults that the user enables with another weight, and appends the user's other plugins.
PluginSets merge_sets(const PluginSets& defaults, const PluginSets& custom);

// Fills in the profile's plugin lists and PrioritySort's place (`queue_sort`). Fails, naming the
// point, for a plugin at a point that it does not implement, for none or several queueSort plugins,
// without bind plugins, and for weights that would overflow.
Result<void> expand_sets(const PluginSets& merged, Profile& profile);

}  // namespace plim::placement
