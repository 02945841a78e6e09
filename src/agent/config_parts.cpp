#include "agent/config_parts.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "agent/labels.hpp"
#include "agent/perf_events.hpp"
#include "base/regex.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr TextLimits kPath{.path = true};
constexpr TextLimits kAbsolute{.absolute_path = true};
constexpr TextLimits kUrl{.url = true};

std::string readable_path(Options& options, const std::string& key) {
  auto path = options.optional_text(key, kAbsolute);
  if (!path || path->empty()) return {};
  if (::access(path->c_str(), R_OK) != 0)
    options.error(key, fmt::format("{}: {} cannot be read", key, *path));
  return *path;
}

SslConfig read_ssl(Options& options) {
  SslConfig out;
  if (auto verify = options.scalar("server_verify")) {
    if (verify->is_bool())
      out.verify = verify->get_bool();
    else if (verify->is_string() && verify->get_string().starts_with('/'))
      out.ca_path = verify->get_string();
    else
      options.error("server_verify", "server_verify: expected true, false or an absolute path");
  }
  options.show("server_verify", out.ca_path.empty() ? json::value(out.verify)
                                                    : json::value(json::string(out.ca_path)));
  out.certificate_path = readable_path(options, "client_cert_path");
  out.key_path = readable_path(options, "client_key_path");
  if (!out.key_path.empty() && out.certificate_path.empty())
    options.error("client_key_path", "client_key_path: a key without client_cert_path");
  // One file may contain both.
  if (out.key_path.empty()) out.key_path = out.certificate_path;
  return out;
}

// Two keys of old files, which never verify the server. They may name files of a Secret that does
// not exist: then the agent uses a token and verifies the server.
std::optional<SslConfig> read_seed_ssl(Options& options) {
  const std::string certificate = options.optional_text("client_cert", kAbsolute).value_or("");
  const std::string key = options.optional_text("client_private_key", kAbsolute).value_or("");
  if (certificate.empty() && key.empty()) return std::nullopt;
  if (certificate.empty()) {
    options.error("client_private_key", "client_private_key: a key without client_cert");
    return std::nullopt;
  }
  for (const std::string& path : {certificate, key.empty() ? certificate : key})
    if (::access(path.c_str(), R_OK) != 0) {
      options.warn("client_cert", fmt::format("{} cannot be read: continuing without a client "
                                              "certificate",
                                              path));
      return std::nullopt;
    }
  options.warn("client_cert",
               "client_cert and client_private_key do not verify the kubelet; use ssl: !SSL");
  return SslConfig{.verify = false,
                   .certificate_path = certificate,
                   .key_path = key.empty() ? certificate : key};
}

// A number, or a string with a number, as from quotes or the environment. "": not given.
std::string read_port(Options& options, const std::string& key) {
  json::value value = options.scalar(key).value_or("");
  std::string text = value.is_string() ? std::string(value.get_string()) : to_json(value);
  auto port = parse_int<std::uint16_t>(text);
  if (!text.empty() && port.value_or(0) == 0) {
    options.error(key,
                  fmt::format("{}: {} given, expected a port from 1 to 65535", key, quote(text)));
    text.clear();
  }
  options.show(key, text.empty() ? json::value() : json::value(*port));
  return text;
}

KubernetesNodeConfig read_kubernetes(Options& options) {
  KubernetesNodeConfig out;
  if (auto driver = options.optional_text("cgroup_driver")) {
    if (*driver == "systemd")
      out.cgroup_driver = node::CgroupDriver::systemd;
    else if (*driver == "cgroupfs")
      out.cgroup_driver = node::CgroupDriver::cgroupfs;
    else if (*driver != "auto")
      options.error("cgroup_driver", fmt::format("cgroup_driver: \"{}\" given, expected systemd, "
                                                 "cgroupfs or auto",
                                                 *driver));
  }
  out.kubelet_endpoint = options.text("kubelet_endpoint", out.kubelet_endpoint, kUrl);
  out.api_host = options.optional_text("kubeapi_host").value_or("");
  out.api_port = read_port(options, "kubeapi_port");
  out.node_ip = options.optional_text("node_ip").value_or("");
  out.kubelet_enabled = options.optional_boolean("kubelet_enabled").value_or(out.api_host.empty());
  if (!out.kubelet_enabled && out.api_host.empty())
    options.error_here("!KubernetesNode: kubelet_enabled is false and kubeapi_host is missing");
  if (!out.kubelet_enabled && out.node_ip.empty())
    options.error_here("!KubernetesNode: node_ip is needed with kubeapi_host");
  out.token_path = options.text("client_token_path", out.token_path, kPath);
  out.ca_path = options.text("server_cert_ca_path", out.ca_path, kPath);
  if (!options.component("ssl", {"SSL"}, false).empty()) {
    Options ssl = options.below("ssl", "SSL");
    out.ssl = read_ssl(ssl);
    ssl.finish();
    options.show("ssl", ssl.take_shown());
  }
  auto seed = read_seed_ssl(options);
  if (!out.ssl) out.ssl = std::move(seed);
  out.timeout = options.number("timeout", 1, 60, out.timeout);
  out.namespaces = options.texts("monitored_namespaces", out.namespaces);
  out.sync_interval = options.optional_number("node_sync_interval", 0, 600);
  const std::string selection = options.text("pod_selection", "running");
  out.only_ready = selection == "ready";
  if (selection != "ready" && selection != "running")
    options.error("pod_selection", "pod_selection: expected running or ready");
  out.cgroup_root = options.optional_text("cgroup_root", kPath);
  out.node_name = options.optional_text("node_name").value_or("");
  return out;
}

std::map<std::string, double> read_resources(Options& options, const std::string& key) {
  std::map<std::string, double> out;
  for (const auto& [name, amount] : options.scalars(key, "names with numbers")) {
    Result<double> number = fail(Code::invalid, "no number");
    if (amount.is_number()) number = amount.to_number<double>();
    if (amount.is_string()) number = parse_double(amount.get_string());
    if (number)
      out[name] = *number;
    else
      options.error(key, fmt::format("{}: {}: expected a number", key, name));
  }
  options.show(key, json::value_from(out));
  return out;
}

StaticNodeConfig read_static(Options& options) {
  StaticNodeConfig out;
  if (!options.has("tasks")) options.error_here("!StaticNode: tasks is missing; it may be []");
  out.tasks = options.texts("tasks", {});
  out.require_pids = options.boolean("require_pids", false);
  out.default_labels = options.labels("default_labels");
  out.default_resources = read_resources(options, "default_resources");
  out.directory = options.optional_text("directory", kPath).value_or("");
  const json::value* labels = options.raw("tasks_labels");
  if (labels != nullptr && !labels->is_object())
    options.error("tasks_labels", "tasks_labels: expected names of tasks with their labels");
  if (labels == nullptr || !labels->is_object()) return out;
  Options below = options.below("tasks_labels", "");
  for (const auto& [task, ignored] : labels->get_object())
    out.task_labels[task] = below.labels(std::string(task));
  options.show("tasks_labels", json::value_from(out.task_labels));
  return out;
}

std::map<std::string, LabelGenerator> read_generators(Options& options) {
  std::map<std::string, LabelGenerator> out;
  const json::value* value = options.raw("task_label_generators");
  if (value == nullptr) return out;
  if (!value->is_object()) {
    options.error("task_label_generators",
                  "task_label_generators: expected labels with their generators");
    return out;
  }
  Options all = options.below("task_label_generators", "");
  for (const auto& [label, ignored] : value->get_object()) {
    const std::string key(label);
    const std::string tag =
        all.component(key, {"TaskLabelRegexGenerator", "TaskLabelResourceGenerator"}, true);
    if (tag.empty()) continue;
    Options below = all.below(key, tag);
    LabelGenerator made;
    if (tag == "TaskLabelResourceGenerator") {
      made.resource = below.text("resource_name", "");
      if (made.resource.empty()) below.error_here("!" + tag + ": resource_name is missing");
    } else {
      made.pattern = below.text("pattern", "");
      made.replacement = below.text("repl", "");
      made.source = below.text("source", made.source);
      if (auto pattern = Regex::compile(made.pattern); !pattern)
        below.error("pattern", fmt::format("pattern: {}", pattern.error().message));
    }
    below.finish();
    all.show(key, below.take_shown());
    out[sanitise_label(key)] = std::move(made);
  }
  options.show("task_label_generators", all.take_shown());
  return out;
}

// true, false or a regular expression with this number of groups.
TextFilter read_filter(Options& options, const std::string& key, bool fallback, unsigned groups) {
  TextFilter out{.on = fallback};
  auto value = options.scalar(key);
  options.show(key, value.value_or(json::value(fallback)));
  if (!value) return out;
  if (value->is_bool()) {
    out.on = value->get_bool();
    return out;
  }
  if (!value->is_string()) {
    options.error(key, fmt::format("{}: expected true, false or a regular expression", key));
    return out;
  }
  out = {.on = true, .pattern = std::string(value->get_string())};
  if (auto pattern = Regex::compile(out.pattern); !pattern) {
    options.error(key, fmt::format("{}: {}", key, pattern.error().message));
  } else if (groups > 0 && pattern->groups() != groups) {
    options.error(key, fmt::format("{}: expected a regular expression with {} groups, this has {}",
                                   key, groups, pattern->groups()));
  }
  return out;
}

// Events are not counted in this version; only checks the names.
void read_events(Options& options, MeasureConfig& out) {
  out.event_names = options.texts("event_names", {});
  for (const std::string& name : out.event_names)
    if (auto event = parse_perf_event(name); !event)
      options.error("event_names", fmt::format("event_names: {}", event.error().message));
  out.perf_required = options.boolean("perf_required", false);
  options.boolean("perf_aggregate_cpus", true);
  if (options.boolean("enable_derived_metrics", false))
    out.unused.push_back("enable_derived_metrics");
  if (const json::value* events = options.raw("uncore_event_names")) {
    if (!events->is_array())
      options.error("uncore_event_names", "uncore_event_names: expected a list of events");
    else
      out.uncore_wanted = !events->get_array().empty();
    options.show("uncore_event_names", *events);
  }
}

void read_rest(Options& options, MeasureConfig& out) {
  out.dimm_facts = options.optional_boolean("gather_hw_mm_topology");
  if (!options.component("allocation_configuration", {"AllocationConfiguration"}, false).empty()) {
    Options below = options.below("allocation_configuration", "AllocationConfiguration");
    below.number("cpu_quota_period", 1000, 1'000'000, 100'000);
    below.number("cpu_shares_unit", 1000, 1'000'000, 1000);
    below.optional_text("default_rdt_l3");
    below.optional_text("default_rdt_mb");
    below.finish();
    options.show("allocation_configuration", below.take_shown());
  }
  constexpr double kMany = 1e9;
  if (options.optional_number("wss_reset_cycles", 0, kMany))
    out.unused.push_back("wss_reset_cycles");
  options.number("wss_stable_cycles", -kMany, kMany, 0);
  options.optional_number("wss_membw_threshold", 0, kMany);
  out.zoneinfo = read_filter(options, "zoneinfo", true, 2);
  out.vmstat = read_filter(options, "vmstat", true, 0);
  if (read_filter(options, "sched", false, 0).on) out.unused.push_back("sched");
  out.container_metrics = options.boolean("container_metrics", false);
}

}  // namespace

void read_decider_options(Options& options, const std::string& tag) {
  if (tag == "StaticAllocator") {
    options.optional_text("config", kPath);
    options.raw("rules");
  } else if (tag == "NUMAAllocator") {
    for (const char* key :
         {"algorithm", "loop_min_task_balance", "free_space_check", "migrate_pages",
          "migrate_pages_min_task_balance", "cgroups_cpus_binding", "cgroups_memory_binding",
          "cgroups_memory_migrate", "double_match", "candidate", "dryrun"})
      options.raw(key);
  } else if (tag == "ContentionDetector" || tag == "ContentionAllocator") {
    for (const char* key :
         {"signal", "sigma", "min_cpu_usage", "violations", "violation_window",
          "correlation_window", "correlation_threshold", "max_suspects", "baseline_window",
          "min_baseline_samples", "psi_threshold", "group_by", "cpi_specs"})
      options.raw(key);
    if (tag == "ContentionAllocator")
      for (const char* key : {"cap_cpus", "cap_seconds", "victims", "targets", "act"})
        options.raw(key);
  }
}

StorageConfig read_storage(Options& options, const std::string& key) {
  StorageConfig out;
  const std::string tag = options.component(
      key, {"LogStorage", "FilterStorage", "PrometheusEndpoint", "KafkaStorage"}, false);
  const auto fill = [](Options& below, const std::string& name) {
    StorageConfig made;
    if (name == "PrometheusEndpoint") {
      made.kind = StorageConfig::Kind::endpoint;
      made.listen = below.text("listen", made.listen);
    } else if (name == "KafkaStorage") {
      made.kind = StorageConfig::Kind::kafka;
      below.error_here("!KafkaStorage: this program was built without Kafka");
      for (const char* option :
           {"topic", "brokers_ips", "max_timeout_in_seconds", "extra_config", "ssl"})
        below.raw(option);
    } else {
      made.file = below.optional_text("output_filename", kPath).value_or("");
      made.overwrite = below.boolean("overwrite", false);
      made.timestamps = below.optional_boolean("include_timestamp");
      made.labels = below.optional_texts("filter_labels");
      if (made.overwrite && made.file.empty())
        below.error("overwrite", "overwrite: needs output_filename");
    }
    return made;
  };
  if (tag == "FilterStorage") {
    out.kind = StorageConfig::Kind::filter;
    Options filter = options.below(key, tag);
    out.names = filter.optional_texts("filter");
    const json::value* list = filter.raw("storages");
    if (list == nullptr || !list->is_array()) {
      filter.error_here("!FilterStorage: storages is missing, expected a list of storages");
    } else {
      Shown shown;
      for (std::size_t i = 0; i < list->get_array().size(); ++i) {
        const std::string name =
            filter.tag_of(fmt::format("{}/{}", filter.pointer_of("storages"), i));
        if (name != "LogStorage" && name != "PrometheusEndpoint" && name != "KafkaStorage") {
          filter.error("storages", fmt::format("storages: item {} is not a storage", i));
          continue;
        }
        Options below = filter.item("storages", i, name);
        out.storages.push_back(fill(below, name));
        below.finish();
        shown.items.push_back(below.take_shown());
      }
      filter.show("storages", std::move(shown));
    }
    filter.finish();
    options.show(key, filter.take_shown());
    return out;
  }
  if (tag.empty() && options.has(key)) return out;  // a mistake, reported already
  const std::string name = tag.empty() ? "LogStorage" : tag;
  Options below = options.below(key, name);
  out = fill(below, name);
  below.finish();
  options.show(key, below.take_shown());
  return out;
}

void read_measurement(Options& options, MeasureConfig& out) {
  const std::string tag = options.component("node", {"KubernetesNode", "StaticNode"}, true);
  if (!tag.empty()) {
    Options below = options.below("node", tag);
    if (tag == "KubernetesNode")
      out.node = read_kubernetes(below);
    else
      out.node = read_static(below);
    below.finish();
    options.show("node", below.take_shown());
  }
  out.storage = read_storage(options, "metrics_storage");
  if (options.has("action_delay")) {
    options.warn("action_delay", "action_delay is called interval now");
    out.interval = options.number("action_delay", 0, 60, out.interval);
  }
  out.interval = options.number("interval", 0, 60, out.interval);
  out.rdt_enabled = options.optional_boolean("rdt_enabled");
  out.extra_labels = options.labels("extra_labels");
  read_events(options, out);
  out.label_generators = read_generators(options);
  out.include_optional_labels = options.boolean("include_optional_labels", false);
  out.pressure = options.boolean("pressure", true);
  read_rest(options, out);
}

}  // namespace plim::agent
