// The arguments of plugins, `pluginConfig` in the file.
#pragma once

#include "sched/config.hpp"
#include "sched/config_fields.hpp"

namespace plim::sched {

// Reads the arguments of `plugin` into the profile. It is an error to give arguments to a plugin
// without any.
void read_plugin_args(PluginId plugin, Fields& args, ProfileConfig& out);

// A resource list of args, {name, weight}; also the older plugins' own form.
std::vector<placement::ResourceWeight> read_resource_weights(
    Fields& args, const std::string& key, std::vector<placement::ResourceWeight> fallback);
std::vector<placement::ShapePoint> read_shape(Fields& args, const std::string& key);

json::value write_plugin_args(PluginId plugin, const ProfileConfig& config);  // null: has none

}  // namespace plim::sched
