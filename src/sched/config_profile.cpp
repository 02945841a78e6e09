#include "sched/config_profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sched/config_args.hpp"
#include "sched/old_names.hpp"

namespace plim::sched {
namespace {

constexpr std::int64_t kLargestWeight = 2147483647;

class ProfileReader {
 public:
  explicit ProfileReader(FileVersion version) : version_(version) {}

  void read(Fields& fields, std::optional<LocalityMode> mode, ProfileConfig& out) {
    placement::PluginSets custom;
    if (auto plugins = fields.object("plugins")) read_sets(*plugins, custom);
    // A profile that enables the plugin by name gets the formula by bytes.
    const auto& scored = custom.at(placement::Point::Score).enabled;
    if (std::ranges::find(scored, PluginId::ImageLocality, &WeightedPlugin::plugin) != scored.end())
      out.profile.locality.mode = LocalityMode::Bytes;
    const bool multi_point = version_ >= FileVersion::v1beta3;
    out.sets = placement::merge_sets(
        multi_point ? placement::default_sets(out.profile.release)
                    : placement::default_sets_before_multi_point(out.profile.release),
        custom);
    if (!multi_point) {
      // In terms of v1: nothing comes from multiPoint, every point is given in full.
      for (placement::PluginSet& set : out.sets.points) {
        set.disables_all = true;
        set.disabled.clear();
      }
    }
    if (old_strategy_) out.profile.fit.strategy = *old_strategy_;
    read_args(fields, out);
    if (out.profile.fit.strategy == placement::FitStrategy::RequestedToCapacityRatio &&
        out.profile.fit.shape.empty())
      fields.error("pluginConfig", "RequestedToCapacityRatio needs a shape");
    if (mode) out.profile.locality.mode = *mode;
    fields.finish();
    if (auto expanded = placement::expand_sets(out.sets, out.profile); !expanded)
      fields.error_here(expanded.error().message);
  }

 private:
  void read_sets(Fields& plugins, placement::PluginSets& out) {
    for (std::size_t index = 0; index < placement::kPointCount; ++index) {
      const auto point = static_cast<placement::Point>(index);
      if (point == placement::Point::MultiPoint && version_ < FileVersion::v1beta3) continue;
      auto given = plugins.object(std::string(name_of(point)));
      if (!given) continue;
      placement::PluginSet& set = out.at(point);
      for (Fields& item : given->objects("enabled")) read_enabled(item, point, set);
      for (Fields& item : given->objects("disabled")) {
        const std::string name = item.text("name");
        item.integer("weight", 0);
        item.finish();
        if (name == "*")
          set.disables_all = true;
        else if (const auto plugin = plugin_by_name(item, name, false))
          set.disabled.push_back(*plugin);
      }
      given->finish();
    }
    plugins.finish();
  }

  void read_enabled(Fields& item, placement::Point point, placement::PluginSet& set) {
    const std::string name = item.text("name");
    const std::int64_t weight = item.integer("weight", 0, {0, kLargestWeight});
    item.finish();
    const auto plugin = plugin_by_name(item, name, true);
    if (!plugin) return;
    auto twice = std::ranges::find(set.enabled, *plugin, &WeightedPlugin::plugin);
    if (twice != set.enabled.end()) {
      // Several old plugins may have one successor.
      if (find_old_plugin(name) == nullptr)
        item.error("name", fmt::format("{} is enabled twice", quote(name)));
      return;
    }
    if (point != placement::Point::MultiPoint && !placement::implements(*plugin, point)) {
      // The older plugins ran at points at which their successors do not run.
      if (find_old_plugin(name) == nullptr || version_ == FileVersion::v1)
        item.error("name", fmt::format("{} does not run at {}", quote(name), name_of(point)));
      return;
    }
    set.enabled.push_back({*plugin, weight});
  }

  // None for a name that is ignored with a warning or rejected.
  std::optional<PluginId> plugin_by_name(Fields& item, const std::string& name, bool enabled) {
    if (name.empty()) {
      item.error("name", "is missing");
      return std::nullopt;
    }
    if (const auto plugin = placement::plugin_named(name)) return plugin;
    const OldPlugin* old = find_old_plugin(name);
    if (old != nullptr && version_ != FileVersion::v1) return old_plugin(item, *old, enabled);
    std::string text = fmt::format("there is no plugin {}", quote(name));
    if (old != nullptr && old->now)
      text = fmt::format("{} no longer exists, use {}", quote(name), name_of(*old->now));
    if (const auto now = successor_of_policy(name); !now.empty())
      text = fmt::format("{} is a name of the old Policy API, the plugin is {}", quote(name), now);
    if (enabled)
      item.error("name", text);
    else
      item.warn("name", text);
    return std::nullopt;
  }

  std::optional<PluginId> old_plugin(Fields& item, const OldPlugin& old, bool enabled) {
    if (!old.now) {
      item.warn("name", fmt::format("{} no longer exists and has no effect", old.name));
      return std::nullopt;
    }
    if (enabled && old.strategy) old_strategy_ = old.strategy;
    item.warn("name", fmt::format("{} is now {}{}{}", old.name, name_of(*old.now),
                                  old.strategy ? " with scoringStrategy " : "",
                                  old.strategy ? name_of(*old.strategy) : ""));
    return old.now;
  }

  void read_args(Fields& fields, ProfileConfig& out) {
    std::vector<std::string> seen;
    for (Fields& item : fields.objects("pluginConfig")) {
      const std::string name = item.text("name");
      if (std::ranges::find(seen, name) != seen.end())
        item.error("name", fmt::format("{} is configured twice", quote(name)));
      seen.push_back(name);
      // Arguments of a plugin that does not run here have no effect; kube-scheduler ignores them
      // too.
      const auto plugin = plugin_by_name(item, name, find_old_plugin(name) != nullptr);
      auto args = item.object("args");
      item.finish();
      if (!plugin || !args) continue;
      const std::string kind = args->text("kind");
      args->text("apiVersion");
      if (!kind.empty() && kind != name + "Args")
        args->error("kind", fmt::format("expected {}Args, found {}", name, quote(kind)));
      if (const OldPlugin* old = find_old_plugin(name); old != nullptr && old->strategy)
        read_old_strategy(*args, out.profile.fit);
      else
        read_plugin_args(*plugin, *args, out);
      args->finish();
    }
  }

  static void read_old_strategy(Fields& args, placement::FitArgs& fit) {
    fit.resources = read_resource_weights(args, "resources", std::move(fit.resources));
    for (placement::ResourceWeight& resource : fit.resources)
      if (resource.weight == 0) resource.weight = 1;
    fit.shape = read_shape(args, "shape");
  }

  FileVersion version_;
  std::optional<placement::FitStrategy> old_strategy_;  // of a plugin of older versions
};

}  // namespace

void read_profile(Fields& fields, FileVersion version, std::optional<LocalityMode> mode,
                  ProfileConfig& out) {
  ProfileReader(version).read(fields, mode, out);
}

}  // namespace plim::sched
