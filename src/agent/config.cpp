#include "agent/config.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/config_parts.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr std::array<std::string_view, 6> kLevels{"critical", "error", "warning",
                                                  "info",     "debug", "trace"};

using Runner = AgentConfig::Runner;

// Options of the measurement that old files set directly in other runners.
constexpr std::array<std::string_view, 8> kLegacyKeys{
    "node",         "metrics_storage", "action_delay", "interval",
    "extra_labels", "event_names",     "rdt_enabled",  "ignore_privileges_check"};

bool is_legacy(const Options& options) {
  if (options.has("measurement_runner")) return false;
  return std::ranges::any_of(kLegacyKeys, [&](std::string_view key) { return options.has(key); });
}

const std::vector<std::string_view>& detectors() {
  static const std::vector<std::string_view> tags{"NOPAnomalyDetector", "ContentionDetector"};
  return tags;
}

const std::vector<std::string_view>& allocators() {
  static const std::vector<std::string_view> tags{"NOPAllocator", "StaticAllocator",
                                                  "NUMAAllocator", "ContentionAllocator"};
  return tags;
}

void read_measurement_of(Options& options, MeasureConfig& out) {
  if (is_legacy(options)) {
    options.warn("node",
                 "options of the measurement belong below measurement_runner; here they "
                 "still work, but that is deprecated");
    read_measurement(options, out);
    return;
  }
  if (options.component("measurement_runner", {"MeasurementRunner"}, true).empty()) return;
  Options below = options.below("measurement_runner", "MeasurementRunner");
  read_measurement(below, out);
  below.finish();
  options.show("measurement_runner", below.take_shown());
}

void read_allocation_options(Options& options) {
  read_storage(options, "allocations_storage");
  read_storage(options, "anomalies_storage");
  for (const char* key :
       {"rdt_mb_control_required", "rdt_cache_control_required", "remove_all_resctrl_groups",
        "dry_run", "restore_on_exit", "restore_on_release", "strict_qos_shares"})
    options.boolean(key, false);
  options.boolean("reassert", true);
  options.number("value_change_sensitivity", 0, 1, 0);
  const std::string on_invalid = options.text("on_invalid", "task");
  if (on_invalid != "task" && on_invalid != "iteration")
    options.error("on_invalid", "on_invalid: expected task or iteration");
}

void read_decider(Options& options, const std::string& key,
                  const std::vector<std::string_view>& choices, AgentConfig& out) {
  out.decider = options.component(key, choices, true);
  if (out.decider.empty()) return;
  Options below = options.below(key, out.decider);
  read_decider_options(below, out.decider);
  below.finish();
  options.show(key, below.take_shown());
}

void read_runner(Options& top, AgentConfig& out) {
  const std::string tag =
      top.component("runner", {"MeasurementRunner", "DetectionRunner", "AllocationRunner"}, true);
  if (tag.empty()) return;
  Options runner = top.below("runner", tag);
  if (tag == "MeasurementRunner") {
    read_measurement(runner, out.measure);
  } else {
    out.runner = tag == "DetectionRunner" ? Runner::detect : Runner::allocate;
    read_measurement_of(runner, out.measure);
    if (out.runner == Runner::detect) {
      read_decider(runner, "detector", detectors(), out);
      read_storage(runner, "anomalies_storage");
    } else {
      read_decider(runner, "allocator", allocators(), out);
      read_allocation_options(runner);
    }
  }
  runner.finish();
  top.show("runner", runner.take_shown());
}

void read_loggers(Options& top, AgentConfig& out) {
  if (top.raw("loggers") == nullptr) return;
  for (const auto& [module, level] : top.scalars("loggers", "names of modules with their levels")) {
    const std::string text = level.is_string() ? to_lower(level.get_string()) : "";
    if (std::ranges::find(kLevels, text) == kLevels.end())
      top.error("loggers",
                fmt::format("loggers: {}: expected one of {}", module, fmt::join(kLevels, ", ")));
    out.loggers[module] = text;
  }
  top.show("loggers", json::value_from(out.loggers));
}

}  // namespace

Result<LoadedConfig> parse_config(std::string_view text, std::string_view source,
                                  const GetEnv& env) {
  PLIM_TRY(YamlDocument document, parse_yaml_document(text, source));
  if (!document.value().is_object())
    return document.error_at("", "expected a mapping with the key runner");
  LoadedConfig out;
  ReaderNotes notes;
  Options top(ConfigPlace(document, "", "", env, notes));
  read_runner(top, out.config);
  read_loggers(top, out.config);
  top.finish();
  if (!notes.errors.empty())
    return fail(Code::invalid, fmt::format("{}", fmt::join(notes.errors, "\n")));
  out.warnings = std::move(notes.warnings);
  out.effective = show_yaml(top.take_shown());
  return out;
}

Result<LoadedConfig> load_config(const std::string& path, const GetEnv& env) {
  if (!path.starts_with('/'))
    return fail(Code::invalid, fmt::format("{}: the path must be absolute", quote(path)));
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail_errno(errno, fmt::format("cannot read {}", path));
  // A file of root is as trustworthy as our own, such as a ConfigMap mounted by the kubelet.
  if (::geteuid() != 0 && info.st_uid != 0 && info.st_uid != ::geteuid())
    return fail(Code::forbidden, fmt::format("{} belongs to another user", path));
  if ((info.st_mode & S_IWOTH) != 0)
    return fail(Code::forbidden,
                fmt::format("{} is writable by all users; run chmod o-w {}", path, path));
  PLIM_TRY(std::string text, read_file(path));
  return parse_config(text, path, env);
}

// Detectors and allocators that do nothing need only the measurement.
Result<void> can_run(const AgentConfig& config) {
  if (config.decider.empty() || config.decider == "NOPAnomalyDetector" ||
      config.decider == "NOPAllocator")
    return {};
  return fail(
      Code::unimplemented,
      fmt::format("!{} cannot run yet: this version measures, it does not decide", config.decider));
}

}  // namespace plim::agent
