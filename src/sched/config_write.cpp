#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.hpp"
#include "base/table.hpp"
#include "sched/config.hpp"
#include "sched/config_args.hpp"
#include "sched/config_extenders.hpp"

namespace plim::sched {
namespace {

json::object write_set(const placement::PluginSet& set, placement::Point point) {
  json::object out;
  json::array enabled, disabled;
  for (const WeightedPlugin& plugin : set.enabled) {
    json::object item{{"name", name_of(plugin.plugin)}};
    if (plugin.weight != 0 &&
        (point == placement::Point::Score || point == placement::Point::MultiPoint))
      item["weight"] = plugin.weight;
    enabled.push_back(std::move(item));
  }
  if (set.disables_all) disabled.push_back(json::object{{"name", "*"}});
  for (const PluginId plugin : set.disabled)
    disabled.push_back(json::object{{"name", name_of(plugin)}});
  if (!disabled.empty()) out["disabled"] = std::move(disabled);
  if (!enabled.empty()) out["enabled"] = std::move(enabled);
  return out;
}

json::object write_profile(const ProfileConfig& config, std::int64_t usual_percentage) {
  json::array args;
  for (std::size_t index = 0; index < placement::kPluginCount; ++index) {
    const auto plugin = static_cast<PluginId>(index);
    json::value written = write_plugin_args(plugin, config);
    if (written.is_null()) continue;
    args.push_back(json::object{{"args", std::move(written)}, {"name", name_of(plugin)}});
  }
  json::object sets;
  for (std::size_t index = 0; index < placement::kPointCount; ++index) {
    const auto point = static_cast<placement::Point>(index);
    sets[name_of(point)] = write_set(config.sets.at(point), point);
  }
  json::object out;
  if (config.profile.percentage_of_nodes != usual_percentage)
    out["percentageOfNodesToScore"] = config.profile.percentage_of_nodes;
  out["pluginConfig"] = std::move(args);
  out["plugins"] = std::move(sets);
  out["schedulerName"] = config.profile.scheduler_name;
  return out;
}

std::string plugin_list(const std::vector<PluginId>& plugins) {
  std::vector<std::string> names;
  for (const PluginId plugin : plugins) names.emplace_back(name_of(plugin));
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

std::string score_list(const Profile& profile) {
  std::vector<std::string> names;
  for (const WeightedPlugin& plugin : profile.score) {
    names.push_back(fmt::format("{}({})", name_of(plugin.plugin), plugin.weight));
    if (plugin.plugin == PluginId::ImageLocality)
      names.back() += fmt::format("[mode {}]", name_of(profile.locality.mode));
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

json::value write_configuration(const Configuration& config) {
  const ElectionConfig& election = config.election;
  json::array profiles;
  for (const ProfileConfig& profile : config.profiles)
    profiles.push_back(write_profile(profile, config.percentage_of_nodes));
  json::object out{
      {"apiVersion", "kubescheduler.config.k8s.io/v1"},
      {"clientConnection", json::object{{"acceptContentTypes", config.client.accept_content_types},
                                        {"burst", config.client.burst},
                                        {"contentType", config.client.content_type},
                                        {"kubeconfig", config.client.kubeconfig},
                                        {"qps", config.client.qps}}},
      {"delayCacheUntilActive", config.delay_cache_until_active},
      {"enableContentionProfiling", config.contention_profiling},
      {"enableProfiling", config.profiling},
      {"kind", "KubeSchedulerConfiguration"},
      {"leaderElection", json::object{{"leaderElect", election.elect},
                                      {"leaseDuration", format_duration(election.lease_duration)},
                                      {"renewDeadline", format_duration(election.renew_deadline)},
                                      {"resourceLock", "leases"},
                                      {"resourceName", election.name},
                                      {"resourceNamespace", election.ns},
                                      {"retryPeriod", format_duration(election.retry_period)}}},
      {"parallelism", config.parallelism},
      {"percentageOfNodesToScore", config.percentage_of_nodes},
      {"podInitialBackoffSeconds", config.initial_backoff_seconds},
      {"podMaxBackoffSeconds", config.max_backoff_seconds},
      {"profiles", std::move(profiles)},
  };
  if (!config.extenders.empty()) out["extenders"] = write_extenders(config.extenders);
  json::value value = std::move(out);
  sort_keys(value);
  return value;
}

std::string describe_plugins(const Configuration& config) {
  Table table({{"PROFILE"}, {"POINT"}, {"PLUGINS"}});
  for (const ProfileConfig& each : config.profiles) {
    const Profile& profile = each.profile;
    std::string shown = profile.scheduler_name;
    const auto add = [&](std::string_view point, std::string plugins) {
      table.add({std::exchange(shown, {}), point, std::move(plugins)});
    };
    add("queueSort", "PrioritySort");
    add("preEnqueue", plugin_list(profile.pre_enqueue));
    add("preFilter", plugin_list(profile.pre_filter));
    add("filter", plugin_list(profile.filter));
    add("postFilter", plugin_list(profile.post_filter));
    add("preScore", plugin_list(profile.pre_score));
    add("score", score_list(profile));
    add("reserve", plugin_list(profile.reserve));
    add("permit", plugin_list(profile.permit));
    add("preBind", plugin_list(profile.pre_bind));
    add("bind", plugin_list(profile.bind));
    add("postBind", plugin_list(profile.post_bind));
  }
  return table.render({});
}

}  // namespace plim::sched
