#include "sched/config_args.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "placement/node_rules.hpp"

namespace plim::sched {
namespace {

constexpr std::array<std::string_view, 3> kStrategies{"LeastAllocated", "MostAllocated",
                                                      "RequestedToCapacityRatio"};
constexpr std::array<std::string_view, 3> kModes{"Compat", "Bytes", "PullTime"};
constexpr std::array<std::string_view, 3> kTieBreaks{"Locality", "Random", "First"};
constexpr std::array<std::string_view, 5> kSources{"Auto", "StatusOnly", "CRD", "Annotation",
                                                   "Etcd"};
constexpr std::array<std::string_view, 2> kGranularities{"Layer", "Image"};
constexpr std::array<std::string_view, 2> kDefaultings{"System", "List"};
constexpr std::array<std::string_view, 2> kUnsatisfiable{"DoNotSchedule", "ScheduleAnyway"};
constexpr std::array<std::string_view, 2> kInclusion{"Honor", "Ignore"};

void read_preemption(Fields& args, placement::PreemptionArgs& out) {
  out.min_percentage = args.integer("minCandidateNodesPercentage", out.min_percentage, {0, 100});
  out.min_absolute = args.integer("minCandidateNodesAbsolute", out.min_absolute, {.low = 0});
  if (out.min_percentage == 0 && out.min_absolute == 0)
    args.error("minCandidateNodesPercentage",
               "must not be 0 if minCandidateNodesAbsolute is 0 too");
}

void read_inter_pod(Fields& args, placement::InterPodArgs& out) {
  out.hard_weight = args.integer("hardPodAffinityWeight", out.hard_weight, {0, 100});
  out.ignore_preferred_of_existing =
      args.boolean("ignorePreferredTermsOfExistingPods", out.ignore_preferred_of_existing);
}

// The API server validates the terms of pods. These are validated here, since no pod would fit on
// any node after a mistake.
void check_node_term(Fields& term) {
  for (const std::string list : {"matchExpressions", "matchFields"}) {
    for (Fields& expression : term.objects(list)) {
      for (const std::string word : {"key", "operator"}) expression.text(word);
      expression.texts("values");
      expression.finish();
    }
    const json::value* given = term.raw(list);
    if (given != nullptr && !placement::is_sound_node_term(json::object{{list, *given}}))
      term.error(list, "contains an invalid key, operator or value");
  }
  term.finish();
}

// The plugin parses the terms, as it does for pods.
void read_node_affinity(Fields& args, placement::NodeAffinityArgs& out) {
  const json::value* added = args.raw("addedAffinity");
  if (added == nullptr) return;
  auto affinity = args.object("addedAffinity");
  if (auto required = affinity->object("requiredDuringSchedulingIgnoredDuringExecution")) {
    std::vector<Fields> terms = required->objects("nodeSelectorTerms");
    if (terms.empty()) required->error("nodeSelectorTerms", "at least one term is needed");
    for (Fields& term : terms) check_node_term(term);
    required->finish();
  }
  for (Fields& term : affinity->objects("preferredDuringSchedulingIgnoredDuringExecution")) {
    term.integer("weight", 1, {1, 100});
    if (auto preference = term.object("preference"))
      check_node_term(*preference);
    else
      term.error("preference", "is missing");
    term.finish();
  }
  affinity->finish();
  out.added = *added;
}

void read_fit(Fields& args, const placement::Release& release, placement::FitArgs& out) {
  out.ignored_resources = args.texts("ignoredResources");
  out.ignored_groups = args.texts("ignoredResourceGroups");
  for (const std::string& group : out.ignored_groups)
    if (group.find('/') != std::string::npos)
      args.error("ignoredResourceGroups",
                 fmt::format("{} is a resource, not a group: a group has no '/'", quote(group)));
  auto strategy = args.object("scoringStrategy");
  if (!strategy) return;
  out.strategy = static_cast<placement::FitStrategy>(strategy->choice("type", kStrategies, 0));
  out.resources = read_resource_weights(*strategy, "resources", std::move(out.resources));
  for (placement::ResourceWeight& resource : out.resources)
    if (resource.weight == 0) resource.weight = 1;
  if (auto ratio = strategy->object("requestedToCapacityRatio")) {
    if (out.strategy != placement::FitStrategy::RequestedToCapacityRatio &&
        release.checks_strategy_fields())
      strategy->error("requestedToCapacityRatio",
                      "allowed only with type: RequestedToCapacityRatio");
    out.shape = read_shape(*ratio, "shape");
    ratio->finish();
  }
  if (out.strategy == placement::FitStrategy::RequestedToCapacityRatio && out.shape.empty())
    strategy->error("requestedToCapacityRatio", "this type needs a shape");
  strategy->finish();
}

void read_balanced(Fields& args, placement::BalancedArgs& out) {
  out.resources = read_resource_weights(args, "resources", std::move(out.resources));
  for (placement::ResourceWeight& resource : out.resources) {
    if (resource.weight == 0) resource.weight = 1;
    if (resource.weight != 1)
      args.error("resources", fmt::format("{} has weight {}; here every weight must be 1",
                                          quote(resource.name), resource.weight));
  }
}

void read_volume_binding(Fields& args, const placement::Release& release,
                         placement::VolumeArgs& out) {
  out.bind_timeout_seconds = args.integer("bindTimeoutSeconds", 600, {.low = 0});
  if (args.raw("shape") == nullptr) return;
  if (!release.scores_storage())
    return args.error("shape", "needs the feature gate StorageCapacityScoring, which is off");
  if (auto shape = read_shape(args, "shape"); !shape.empty()) out.shape = std::move(shape);
}

void read_claims(Fields& args, Nanos& filter_timeout) {
  const Nanos usual = filter_timeout;
  filter_timeout = args.duration("filterTimeout", usual);
  if (filter_timeout < Nanos(0)) return args.error("filterTimeout", "is negative");
  if (filter_timeout != usual)
    args.warn("filterTimeout", "has no effect, because pods with resource claims stay pending");
}

void read_spread(Fields& args, placement::SpreadArgs& out) {
  out.system_defaults = args.choice("defaultingType", kDefaultings, 0) == 0;
  for (Fields& given : args.objects("defaultConstraints")) {
    placement::SpreadDefault constraint;
    constraint.max_skew = given.integer("maxSkew", 0, {.low = 1});
    if (!given.has("maxSkew")) given.error("maxSkew", "is missing");
    constraint.topology_key = given.text("topologyKey");
    if (constraint.topology_key.empty()) given.error("topologyKey", "is missing");
    if (!given.has("whenUnsatisfiable")) given.error("whenUnsatisfiable", "is missing");
    constraint.hard = given.choice("whenUnsatisfiable", kUnsatisfiable, 1) == 0;
    constraint.min_domains = given.integer("minDomains", 1, {.low = 1});
    constraint.honor_affinity = given.choice("nodeAffinityPolicy", kInclusion, 0) == 0;
    constraint.honor_taints = given.choice("nodeTaintsPolicy", kInclusion, 1) == 0;
    if (given.raw("labelSelector") != nullptr)
      given.error("labelSelector",
                  "not allowed in defaults, which use the selectors of the pod's services");
    if (!given.texts("matchLabelKeys").empty())
      given.warn("matchLabelKeys", "has no effect in defaults, as with kube-scheduler");
    given.finish();
    const bool twice =
        std::ranges::any_of(out.defaults, [&](const placement::SpreadDefault& other) {
          return other.topology_key == constraint.topology_key && other.hard == constraint.hard;
        });
    if (twice) given.error("topologyKey", "occurs twice with the same whenUnsatisfiable");
    out.defaults.push_back(std::move(constraint));
  }
  if (out.system_defaults && !out.defaults.empty())
    args.error("defaultConstraints", "allowed only with defaultingType: List");
}

std::int64_t read_bandwidth(Fields& args, const std::string& key, std::int64_t fallback) {
  const json::value* value = args.raw(key);
  if (value == nullptr) return fallback;
  std::string text = value->is_string() ? std::string(value->get_string()) : to_json(*value);
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  const auto quantity = parse_quantity(text);
  if (quantity && quantity->value() > 0) return quantity->value();
  args.error(key, "expected bytes per second such as 50Mi/s");
  return fallback;
}

void read_locality(Fields& args, placement::LocalityArgs& out) {
  out.mode =
      static_cast<LocalityMode>(args.choice("mode", kModes, static_cast<std::size_t>(out.mode)));
  out.tie_break = static_cast<placement::TieBreak>(args.choice("tieBreak", kTieBreaks, 0));
  out.layers = args.choice("granularity", kGranularities, 0) == 0;
  out.inventory = static_cast<InventorySource>(args.choice("inventory", kSources, 0));
  const Nanos age = args.duration("inventoryMaxAge", out.inventory_max_age);
  if (age < std::chrono::seconds(1)) args.error("inventoryMaxAge", "must be at least 1s");
  out.inventory_max_age = std::chrono::duration_cast<std::chrono::seconds>(age);
  out.pull_bandwidth = read_bandwidth(args, "pullBandwidth", out.pull_bandwidth);
  const Nanos horizon = args.duration("horizon", out.horizon);
  if (horizon < std::chrono::milliseconds(1)) args.error("horizon", "must be more than 0");
  out.horizon = std::chrono::duration_cast<std::chrono::milliseconds>(horizon);
  out.require = args.boolean("require", out.require);
}

json::array write_resources(const std::vector<placement::ResourceWeight>& resources) {
  json::array out;
  for (const placement::ResourceWeight& resource : resources)
    out.push_back(json::object{{"name", resource.name}, {"weight", resource.weight}});
  return out;
}

json::array write_texts(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::array write_shape(const std::vector<placement::ShapePoint>& shape) {
  json::array out;
  for (const placement::ShapePoint& point : shape)
    out.push_back(json::object{{"utilization", point.utilization}, {"score", point.score}});
  return out;
}

json::object write_fit(const placement::FitArgs& fit) {
  json::object strategy{{"type", name_of(fit.strategy)},
                        {"resources", write_resources(fit.resources)}};
  if (!fit.shape.empty()) {
    strategy["requestedToCapacityRatio"] = json::object{{"shape", write_shape(fit.shape)}};
  }
  json::object out;
  if (!fit.ignored_resources.empty()) out["ignoredResources"] = write_texts(fit.ignored_resources);
  if (!fit.ignored_groups.empty()) out["ignoredResourceGroups"] = write_texts(fit.ignored_groups);
  out["scoringStrategy"] = std::move(strategy);
  return out;
}

json::object write_spread(const placement::SpreadArgs& spread) {
  json::object out{{"defaultingType", spread.system_defaults ? "System" : "List"}};
  if (spread.defaults.empty()) return out;
  json::array list;
  for (const placement::SpreadDefault& constraint : spread.defaults) {
    json::object one{{"maxSkew", constraint.max_skew},
                     {"topologyKey", constraint.topology_key},
                     {"whenUnsatisfiable", constraint.hard ? "DoNotSchedule" : "ScheduleAnyway"}};
    if (constraint.min_domains != 1) one["minDomains"] = constraint.min_domains;
    if (!constraint.honor_affinity) one["nodeAffinityPolicy"] = "Ignore";
    if (constraint.honor_taints) one["nodeTaintsPolicy"] = "Honor";
    list.push_back(std::move(one));
  }
  out["defaultConstraints"] = std::move(list);
  return out;
}

json::object write_locality(const placement::LocalityArgs& locality) {
  return {{"mode", name_of(locality.mode)},
          {"tieBreak", name_of(locality.tie_break)},
          {"granularity", locality.layers ? "Layer" : "Image"},
          {"inventory", name_of(locality.inventory)},
          {"inventoryMaxAge", format_duration(locality.inventory_max_age)},
          {"pullBandwidth", Quantity::from_bytes(locality.pull_bandwidth).to_string() + "/s"},
          {"horizon", format_duration(locality.horizon)},
          {"require", locality.require}};
}

}  // namespace

std::string_view name_of(LocalityMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::string_view name_of(placement::TieBreak rule) {
  return kTieBreaks[static_cast<std::size_t>(rule)];
}

std::string_view name_of(InventorySource source) {
  return kSources[static_cast<std::size_t>(source)];
}

std::string_view name_of(placement::FitStrategy strategy) {
  return kStrategies[static_cast<std::size_t>(strategy)];
}

std::vector<placement::ResourceWeight> read_resource_weights(
    Fields& args, const std::string& key, std::vector<placement::ResourceWeight> fallback) {
  std::vector<placement::ResourceWeight> out;
  for (Fields& given : args.objects(key)) {
    placement::ResourceWeight resource{.name = given.text("name"),
                                       .weight = given.integer("weight", 1, {0, 100})};
    if (resource.name.empty()) given.error("name", "is missing");
    given.finish();
    if (std::ranges::find(out, resource.name, &placement::ResourceWeight::name) != out.end())
      given.error("name", fmt::format("{} occurs twice", quote(resource.name)));
    else
      out.push_back(std::move(resource));
  }
  if (out.empty()) return fallback;
  return out;
}

std::vector<placement::ShapePoint> read_shape(Fields& args, const std::string& key) {
  std::vector<placement::ShapePoint> out;
  for (Fields& given : args.objects(key)) {
    const placement::ShapePoint point{.utilization = given.integer("utilization", 0, {0, 100}),
                                      .score = given.integer("score", 0, {0, 10})};
    given.finish();
    if (!out.empty() && point.utilization <= out.back().utilization)
      given.error("utilization", fmt::format("{} is not greater than the {} before it",
                                             point.utilization, out.back().utilization));
    out.push_back(point);
  }
  return out;
}

void read_plugin_args(PluginId plugin, Fields& args, ProfileConfig& out) {
  switch (plugin) {
    case PluginId::DefaultPreemption:
      return read_preemption(args, out.profile.preemption);
    case PluginId::InterPodAffinity:
      return read_inter_pod(args, out.profile.inter_pod);
    case PluginId::NodeAffinity:
      return read_node_affinity(args, out.profile.node_affinity);
    case PluginId::NodeResourcesFit:
      return read_fit(args, out.profile.release, out.profile.fit);
    case PluginId::NodeResourcesBalancedAllocation:
      return read_balanced(args, out.profile.balanced);
    case PluginId::PodTopologySpread:
      return read_spread(args, out.profile.spread);
    case PluginId::ImageLocality:
      return read_locality(args, out.profile.locality);
    case PluginId::VolumeBinding:
      return read_volume_binding(args, out.profile.release, out.profile.volumes);
    case PluginId::DynamicResources:
      return read_claims(args, out.dra_filter_timeout);
    default:
      return;
  }
}

json::value write_plugin_args(PluginId plugin, const ProfileConfig& config) {
  const Profile& profile = config.profile;
  json::object out;
  switch (plugin) {
    case PluginId::DefaultPreemption:
      out = {{"minCandidateNodesAbsolute", profile.preemption.min_absolute},
             {"minCandidateNodesPercentage", profile.preemption.min_percentage}};
      break;
    case PluginId::InterPodAffinity:
      out = {
          {"hardPodAffinityWeight", profile.inter_pod.hard_weight},
          {"ignorePreferredTermsOfExistingPods", profile.inter_pod.ignore_preferred_of_existing}};
      break;
    case PluginId::NodeAffinity:
      if (!profile.node_affinity.added.is_null())
        out["addedAffinity"] = profile.node_affinity.added;
      break;
    case PluginId::NodeResourcesFit:
      out = write_fit(profile.fit);
      break;
    case PluginId::NodeResourcesBalancedAllocation:
      out["resources"] = write_resources(profile.balanced.resources);
      break;
    case PluginId::PodTopologySpread:
      out = write_spread(profile.spread);
      break;
    case PluginId::VolumeBinding:
      out["bindTimeoutSeconds"] = profile.volumes.bind_timeout_seconds;
      if (profile.release.scores_storage()) out["shape"] = write_shape(profile.volumes.shape);
      break;
    case PluginId::DynamicResources:
      out["filterTimeout"] = format_duration(config.dra_filter_timeout);
      break;
    case PluginId::ImageLocality:
      return write_locality(profile.locality);  // kube-scheduler has no kind for it
    default:
      return nullptr;
  }
  out["apiVersion"] = "kubescheduler.config.k8s.io/v1";
  out["kind"] = fmt::format("{}Args", name_of(plugin));
  return out;
}

}  // namespace plim::sched
