// The scheduler's configuration, KubeSchedulerConfiguration, with all defaults set and plugin sets
// merged and expanded. Files of the beta versions are converted while they are read.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "placement/plugin_sets.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct ElectionConfig {
  bool elect = true;
  Nanos lease_duration = std::chrono::seconds(15);
  Nanos renew_deadline = std::chrono::seconds(10);
  Nanos retry_period = std::chrono::seconds(2);
  std::string name = "kube-scheduler", ns = "kube-system";
};

// Checks that its durations fit together. They have no effect without leader election.
Result<void> check_election(const ElectionConfig& election);

struct ClientConfig {
  std::string kubeconfig;  // "": in-cluster
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  double qps = 50;  // below 0: no limit
  std::int64_t burst = 100;
  bool sets_rate = false;  // the file has qps or burst
};

struct ManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name;
  std::string cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // decoded; take precedence over the files
};

struct ExtenderConfig {
  std::string url_prefix;
  std::string filter_verb, preempt_verb, prioritize_verb, bind_verb;
  std::int64_t weight = 1;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  Nanos timeout = std::chrono::seconds(5);
  bool node_cache_capable = false;
  std::vector<ManagedResource> managed;
  bool ignorable = false;
};

struct ProfileConfig {
  Profile profile;
  placement::PluginSets sets;  // merged with the defaults, not expanded: what is written back
  Nanos dra_filter_timeout = std::chrono::seconds(10);  // of DynamicResources
};

struct Configuration {
  placement::Release release = {};  // of all profiles
  std::int64_t parallelism = 16;
  ElectionConfig election;
  ClientConfig client;
  bool profiling = true, contention_profiling = true;
  std::int64_t percentage_of_nodes = 0;
  std::int64_t initial_backoff_seconds = 1, max_backoff_seconds = 10;
  std::vector<ProfileConfig> profiles;
  std::vector<ExtenderConfig> extenders;
  bool delay_cache_until_active = false;

  const Profile* profile_named(std::string_view scheduler_name) const;
};

struct ReadConfigOptions {
  bool strict = false;                             // warnings become errors
  std::optional<LocalityMode> locality_mode = {};  // for all profiles, instead of the file's
  placement::Release release = {};
};

struct ConfigRead {
  Configuration config;
  std::vector<std::string> warnings;  // whole lines, "scheduler.conf:3:7: …"
};

// The configuration without a file.
Configuration default_configuration(const ReadConfigOptions& options = {});

// Reads YAML or JSON. The error contains all mistakes, one per line, each with its position and
// field.
Result<ConfigRead> read_configuration(std::string_view text, std::string_view source,
                                      const ReadConfigOptions& options = {});

// Writes it as v1 with every default; reading the text gives the same configuration.
json::value write_configuration(const Configuration& config);

// A readable list: the plugins of every extension point in the order in which they run.
std::string describe_plugins(const Configuration& config);

std::string_view name_of(LocalityMode mode);
std::string_view name_of(placement::TieBreak rule);
std::string_view name_of(InventorySource source);
std::string_view name_of(placement::FitStrategy strategy);

}  // namespace plim::sched
