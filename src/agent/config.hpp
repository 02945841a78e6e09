// A configuration file of the agent, with every default filled in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/metric_table.hpp"
#include "base/result.hpp"
#include "node/cgroup_names.hpp"

namespace plim::agent {

using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

struct SslConfig {
  bool verify = true;
  std::string ca_path = {}, certificate_path = {}, key_path = {};
};

struct KubernetesNodeConfig {
  std::optional<node::CgroupDriver> cgroup_driver = {};  // none: detect it for each pod
  std::string kubelet_endpoint = "https://127.0.0.1:10250";
  bool kubelet_enabled = true;
  std::string api_host = {}, api_port = {}, node_ip = {}, node_name = {};
  std::string token_path = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  std::string ca_path = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
  std::optional<SslConfig> ssl = {};
  double timeout = 5;
  std::vector<std::string> namespaces = {"default"};
  std::optional<double> sync_interval = {};  // seconds; 0: each iteration waits for the answer
  bool only_ready = false;
  std::optional<std::string> cgroup_root = {};
};

struct StaticNodeConfig {
  std::vector<std::string> tasks = {};
  bool require_pids = false;
  Labels default_labels = {};
  std::map<std::string, double> default_resources = {};
  std::map<std::string, Labels> task_labels = {};
  std::string directory = {};
};

struct StorageConfig {
  enum class Kind { log, filter, endpoint, kafka };
  Kind kind = Kind::log;
  std::string file = {};  // "": standard error
  bool overwrite = false;
  std::optional<bool> timestamps = {};
  std::optional<std::vector<std::string>> labels = {};  // only these
  std::optional<std::vector<std::string>> names = {};   // only for FilterStorage
  std::vector<StorageConfig> storages = {};             // only for FilterStorage
  std::string listen = "127.0.0.1:9101";
};

struct LabelGenerator {
  std::string resource = {};  // use the value of this resource; "": use `pattern`
  std::string source = "task_name", pattern = {}, replacement = {};
};

// true, false or a regular expression.
struct TextFilter {
  bool on = true;
  std::string pattern = {};  // "": everything
};

struct MeasureConfig {
  std::variant<StaticNodeConfig, KubernetesNodeConfig> node = StaticNodeConfig{};
  StorageConfig storage = {};
  double interval = 1;
  Labels extra_labels = {};
  std::map<std::string, LabelGenerator> label_generators = {};
  bool include_optional_labels = false;
  bool pressure = true;
  std::vector<std::string> event_names = {};
  std::optional<bool> rdt_enabled = {};
  bool perf_required = false;
  bool uncore_wanted = false;
  std::optional<bool> dimm_facts = {};  // true: fail if they are not available
  TextFilter zoneinfo = {}, vmstat = {};
  bool container_metrics = false;
  std::vector<std::string> unused = {};  // options in the file that have no effect yet
};

struct AgentConfig {
  enum class Runner { measure, detect, allocate };
  Runner runner = Runner::measure;
  MeasureConfig measure = {};
  std::string decider = {};  // tag of the detector or allocator
  std::map<std::string, std::string> loggers = {};
};

struct LoadedConfig {
  AgentConfig config;
  std::vector<std::string> warnings;
  std::string effective;  // the same with all defaults, as YAML
};

// The error has every mistake, one per line, with file, line and column. Changes nothing.
Result<LoadedConfig> parse_config(std::string_view text, std::string_view source,
                                  const GetEnv& env);
// As above, but checks the file first: its path must be absolute, its owner root or the user of the
// agent (any, if the agent is root), and it must not be world-writable.
Result<LoadedConfig> load_config(const std::string& path, const GetEnv& env);
// Fails if the file is valid, but needs a feature that this version does not have.
Result<void> can_run(const AgentConfig& config);

}  // namespace plim::agent
