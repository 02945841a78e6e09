// The profile of one scheduler name: which plugins run at which point, in which order and with
// which arguments. The scheduler reads profiles from its configuration file; the engine only reads
// them. Names, defaults and meaning are those of KubeSchedulerConfiguration v1; the arguments of
// ImageLocality are ours.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "placement/plugin_id.hpp"
#include "placement/release.hpp"

namespace plim::placement {

struct WeightedPlugin {
  PluginId plugin;
  std::int64_t weight = 1;

  bool operator==(const WeightedPlugin&) const = default;
};

struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;

  bool operator==(const ResourceWeight&) const = default;
};
// NOLINTNEXTLINE(readability-identifier-naming): the names in configuration files
enum class FitStrategy : std::uint8_t { LeastAllocated, MostAllocated, RequestedToCapacityRatio };

struct ShapePoint {
  std::int64_t utilization = 0;
  std::int64_t score = 0;  // 0..10, as in the file

  bool operator==(const ShapePoint&) const = default;
};

struct FitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_groups;  // the part of a resource's name before the slash
  FitStrategy strategy = FitStrategy::LeastAllocated;
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};
  std::vector<ShapePoint> shape;  // RequestedToCapacityRatio only

  bool operator==(const FitArgs&) const = default;
};

struct BalancedArgs {
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};

  bool operator==(const BalancedArgs&) const = default;
};

struct SpreadDefault {
  std::int64_t max_skew = 1;
  std::string topology_key;
  bool hard = false;  // DoNotSchedule
  std::int64_t min_domains = 1;
  bool honor_affinity = true, honor_taints = false;

  bool operator==(const SpreadDefault&) const = default;
};

struct SpreadArgs {
  bool system_defaults = true;          // defaultingType: System
  std::vector<SpreadDefault> defaults;  // only with List

  bool operator==(const SpreadArgs&) const = default;
};

struct InterPodArgs {
  std::int64_t hard_weight = 1;
  bool ignore_preferred_of_existing = false;

  bool operator==(const InterPodArgs&) const = default;
};

struct NodeAffinityArgs {
  json::value added;  // a NodeAffinity as in the API, null for none

  bool operator==(const NodeAffinityArgs&) const = default;
};

struct PreemptionArgs {
  std::int64_t min_percentage = 10;
  std::int64_t min_absolute = 100;

  bool operator==(const PreemptionArgs&) const = default;
};

// Of VolumeBinding.
struct VolumeArgs {
  std::int64_t bind_timeout_seconds = 600;
  std::vector<ShapePoint> shape{{0, 10}, {100, 0}};

  bool operator==(const VolumeArgs&) const = default;
};
// NOLINTBEGIN(readability-identifier-naming): the names in configuration files
enum class LocalityMode : std::uint8_t { Compat, Bytes, PullTime };
enum class TieBreak : std::uint8_t { Locality, Random, First };
enum class InventorySource : std::uint8_t { Auto, StatusOnly, Crd, Annotation, Etcd };

// NOLINTEND(readability-identifier-naming)
struct LocalityArgs {
  LocalityMode mode = LocalityMode::Compat;
  TieBreak tie_break = TieBreak::Locality;
  bool layers = true;  // granularity: Layer
  InventorySource inventory = InventorySource::Auto;
  std::chrono::seconds inventory_max_age{600};
  std::int64_t pull_bandwidth = 50 * 1024 * 1024;  // bytes per second
  std::chrono::milliseconds horizon{60000};
  bool require = false;

  bool operator==(const LocalityArgs&) const = default;
};

struct Profile {
  std::string scheduler_name = "default-scheduler";
  Release release = {};
  std::int64_t percentage_of_nodes = 0;  // 0 and 100: all
  // The plugins of each extension point in the order in which they run.
  std::vector<PluginId> pre_enqueue, pre_filter, filter, post_filter, pre_score, reserve, permit,
      pre_bind, bind, post_bind;
  std::vector<WeightedPlugin> score;
  FitArgs fit;
  BalancedArgs balanced;
  SpreadArgs spread;
  InterPodArgs inter_pod;
  NodeAffinityArgs node_affinity;
  PreemptionArgs preemption;
  LocalityArgs locality;
  VolumeArgs volumes;

  bool operator==(const Profile&) const = default;
};

// The profile of an empty configuration.
Profile default_profile(const Release& release = {});

}  // namespace plim::placement
