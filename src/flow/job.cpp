#include "flow/job.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json_kind.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "flow/job_kubernetes.hpp"

namespace plim::flow {
namespace {

constexpr std::size_t kLargestJob = std::size_t{4} << 20;
constexpr std::string_view kPositive = "must be valid integer greater than zero";

// Keys of a job that are checked below, or that belong to Kubernetes.
constexpr std::array<std::string_view, 38> kKnownKeys{"name",
                                                      "lifecycle",
                                                      "operations",
                                                      "apis",
                                                      "assets",
                                                      "workers",
                                                      "slicers",
                                                      "max_retries",
                                                      "probation_window",
                                                      "analytics",
                                                      "active",
                                                      "autorecover",
                                                      "stateful",
                                                      "labels",
                                                      "env_vars",
                                                      "log_level",
                                                      "recycle_worker",
                                                      "cpu",
                                                      "memory",
                                                      "resources_requests_cpu",
                                                      "resources_limits_cpu",
                                                      "resources_requests_memory",
                                                      "resources_limits_memory",
                                                      "cpu_execution_controller",
                                                      "memory_execution_controller",
                                                      "targets",
                                                      "volumes",
                                                      "ephemeral_storage",
                                                      "external_ports",
                                                      "kubernetes_image",
                                                      "pod_spec_override",
                                                      "prom_metrics_enabled",
                                                      "prom_metrics_port",
                                                      "prom_metrics_add_default",
                                                      "autoscale",
                                                      "speculate",
                                                      "performance_metrics",
                                                      "__metadata"};

// Teraslice asset bundles whose operations are built in, in any version.
constexpr std::array<std::string_view, 4> kBuiltInAssets{"standard", "elasticsearch", "file",
                                                         "kafka"};

class Checker {
 public:
  Checker(const json::object& posted, unsigned cpus) : posted_(posted), cpus_(cpus) {}

  CheckedJob run() {
    job_.document = posted_;
    check_texts();
    job_.workers = number("workers", std::min(std::max(cpus_, 1u), 5u), 1);
    job_.slicers = number("slicers", 1, 1);
    job_.max_retries = number("max_retries", 3, 0);
    for (std::string_view flag : {"analytics", "active"}) boolean(flag, true);
    for (std::string_view flag : {"autorecover", "stateful"}) boolean(flag, false);
    check_window();
    check_env_vars();
    check_assets();
    check_apis();
    check_operations();
    check_kubernetes_settings(job_.document, problems_);
    warn_about_unknown_keys();
    CheckedJob out{.problems = std::move(problems_), .name = job_.name};
    if (out.problems.errors.empty())
      out.job = std::move(job_);
    else if (out.problems.errors.size() == operation_errors_)
      out.wrong_operations = std::move(wrong_operations_);
    return out;
  }

 private:
  // Null means "not given", as in Teraslice.
  const json::value* given(std::string_view key) const {
    const json::value* value = posted_.if_contains(key);
    return value != nullptr && !value->is_null() ? value : nullptr;
  }

  void error(std::string_view path, std::string_view message) {
    problems_.errors.push_back(fmt::format("{}: {}", path, message));
  }

  void check_texts() {
    const json::value* name = posted_.if_contains("name");
    job_.name = "Custom Job";
    if (name != nullptr && (!name->is_string() || trim(name->as_string()).empty()))
      error("name", "This field is required and must be of type string");
    else if (name != nullptr)
      job_.name = std::string(name->as_string());
    job_.document["name"] = job_.name;
    std::string_view lifecycle = "once";
    if (const json::value* value = given("lifecycle")) {
      if (!value->is_string() ||
          (value->as_string() != "once" && value->as_string() != "persistent"))
        error("lifecycle", "must be one of once, persistent");
      else
        lifecycle = value->as_string();
    }
    job_.persistent = lifecycle == "persistent";
    job_.document["lifecycle"] = lifecycle;
    const json::value* level = given("log_level");
    constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info",
                                                      "warn",  "error", "fatal"};
    if (level != nullptr &&
        (!level->is_string() ||
         std::ranges::find(kLevels, std::string_view(level->as_string())) == kLevels.end()))
      error("log_level", fmt::format("must be one of {}", fmt::join(kLevels, ", ")));
  }

  unsigned number(std::string_view key, unsigned fallback, std::int64_t least) {
    job_.document[key] = std::int64_t{fallback};
    const json::value* value = given(key);
    if (value == nullptr) return fallback;
    auto whole = whole_number(*value);
    if (!whole || *whole < least || *whole > 1'000'000) {
      error(key, least > 0 ? kPositive : "must be an integer, zero or greater");
      return fallback;
    }
    job_.document[key] = *whole;
    return static_cast<unsigned>(*whole);
  }

  void boolean(std::string_view key, bool fallback) {
    job_.document[key] = fallback;
    const json::value* value = given(key);
    if (value == nullptr) return;
    if (!value->is_bool()) return error(key, "must be true or false");
    job_.document[key] = value->as_bool();
  }

  void check_window() {
    const json::value* window = given("probation_window");
    if (window == nullptr)
      job_.document["probation_window"] = 300000;
    else if (!parse_human_duration(*window))
      error("probation_window", "must be a positive integer or human readable string");
    for (std::string_view key : {"autoscale", "speculate"})
      if (given(key) != nullptr)
        problems_.warnings.push_back(
            fmt::format("{}: is not supported yet and has no effect", key));
    if (given("recycle_worker") != nullptr)
      problems_.warnings.push_back("recycle_worker: is ignored; workers do not need it");
  }

  void check_env_vars() {
    if (posted_.if_contains("env_vars") == nullptr) job_.document["env_vars"] = json::object();
    for (std::string_view where : {"env_vars", "labels"}) {
      const json::value* value = given(where);
      if (value == nullptr) continue;
      if (!value->is_object()) {
        error(where, "must be object");
        continue;
      }
      for (const auto& [key, one] : value->as_object()) {
        if (key.empty()) error(where, "key must be not empty");
        if (where == "env_vars" && std::string_view(key).find('=') != std::string_view::npos)
          error(where, fmt::format("key {} must not have a =", quote(std::string_view(key))));
        if (one.is_null() || (one.is_string() && one.as_string().empty()))
          error(where,
                fmt::format("value for key \"{}\" must be not empty", std::string_view(key)));
      }
    }
  }

  void check_assets() {
    const json::value* assets = given("assets");
    if (assets == nullptr) {
      job_.document["assets"] = nullptr;
      return;
    }
    if (!assets->is_array()) return error("assets", "assets need to be of type array");
    for (const json::value& one : assets->as_array()) {
      if (!one.is_string()) {
        error("assets", "assets needs to be an array of strings");
        continue;
      }
      auto [name, version] = cut(std::string_view(one.as_string()), ':');
      if (std::ranges::find(kBuiltInAssets, name) == kBuiltInAssets.end())
        error("assets",
              fmt::format("No assets found for \"{}\"", std::string_view(one.as_string())));
      else if (!version.empty())
        problems_.warnings.push_back(
            fmt::format("assets: {} is built in; version {} is ignored", name, version));
    }
  }

  void check_apis() {
    if (posted_.if_contains("apis") == nullptr) job_.document["apis"] = json::array();
    const json::value* apis = given("apis");
    if (apis == nullptr) return;
    if (!apis->is_array()) return error("apis", "APIs is required to be an array");
    for (std::size_t i = 0; i < apis->as_array().size(); ++i) {
      const json::value& api = apis->as_array()[i];
      std::string path = fmt::format("apis[{}]", i);
      std::string name(text_at(api, {"_name"}));
      if (!api.is_object() || name.empty()) {
        error(path, "API requires an _name");
        continue;
      }
      if (!apis_.emplace(name, &api.as_object()).second)
        error(path, fmt::format("Duplicate API configurations for {} found", name));
      check_connection(path, name, api.as_object());
    }
  }

  // Connections need a configuration file, which does not exist here.
  void check_connection(std::string_view path, std::string_view op, const json::object& config) {
    for (std::string_view key : {"_connection", "connection"}) {
      std::string_view name = text_option(config, key);
      if (!name.empty())
        error(path, fmt::format("Operation {} refers to connection \"{}\" which is unavailable", op,
                                name));
    }
  }

  void check_operations() {
    const json::value* list = posted_.if_contains("operations");
    if (list == nullptr || !list->is_array() || list->as_array().size() < 2)
      return error("operations",
                   "Operations need to be of type array with at least two operations in it");
    json::array filled;
    for (std::size_t i = 0; i < list->as_array().size(); ++i) {
      const json::value& one = list->as_array()[i];
      std::string path = fmt::format("operations[{}]", i);
      if (!one.is_object()) {
        error(path, fmt::format("Invalid Operation config in operations, got {}", json_kind(one)));
        continue;
      }
      check_operation(one.as_object(), path, i);
      if (!job_.operations.empty()) filled.push_back(job_.operations.back().options);
    }
    if (problems_.errors.empty()) job_.document["operations"] = std::move(filled);
  }

  void check_operation(const json::object& posted, const std::string& path, std::size_t index) {
    std::string full(text_option(posted, "_op"));
    if (full.empty())
      return error(path + "._op", "This field is required and must be of type string");
    std::string name(cut(full, '@').first);
    const OpEntry* entry = find_op(name);
    if (entry == nullptr)
      return error(path, fmt::format("Unable to find module for operation: {}; the nearest are {}",
                                     name, fmt::join(nearest_ops(name), ", ")));
    const std::size_t at_first = problems_.errors.size();
    const bool reader = entry->kind == OpEntry::Kind::reader;
    if (reader != (index == 0))
      error(path, reader ? fmt::format("{} is a reader and can only be the first operation", name)
                         : fmt::format("{} is a {}; the first operation must be a reader", name,
                                       kind_name(entry->kind)));
    check_common(posted, path, name);
    json::object merged = with_api(posted, path);
    const std::size_t before = problems_.errors.size();
    json::object options = check_options(entry->options, merged, path, problems_);
    // The check of an operation requires options of the right types.
    if (entry->check != nullptr && problems_.errors.size() == before)
      entry->check(options, path, problems_);
    job_.operations.push_back({.entry = entry, .options = std::move(options)});
    if (problems_.errors.size() > at_first) wrong_operations_.push_back(name);
    operation_errors_ += problems_.errors.size() - at_first;
  }

  void check_common(const json::object& posted, const std::string& path, const std::string& name) {
    std::string_view encoding = text_option(posted, "_encoding");
    if (posted.contains("_encoding") && encoding != "json" && encoding != "raw")
      error(path + "._encoding", "must be one of json, raw");
    check_dead_letters(posted, path);
    check_connection(path, name, posted);
  }

  // Checks the action for single bad records. Only the default is supported.
  void check_dead_letters(const json::object& posted, const std::string& path) {
    const json::value* action = posted.if_contains("_dead_letter_action");
    if (action == nullptr || action->is_null()) return;
    std::string_view name = text_option(posted, "_dead_letter_action");
    if (name.empty())
      return error(path + "._dead_letter_action", "must be one of throw, log, none, or an api");
    if (name != "throw")
      problems_.warnings.push_back(fmt::format(
          "{}._dead_letter_action: {} is not supported yet; a bad record fails its slice", path,
          name));
  }

  // Newer job files have the options of readers and senders in apis[]. Options of the operation
  // take precedence.
  json::object with_api(const json::object& posted, const std::string& path) {
    json::object out = posted;
    std::string_view name = text_option(posted, "_api_name");
    if (name.empty()) return out;
    auto api = apis_.find(std::string(name));
    if (api == apis_.end()) {
      error(path + "._api_name", fmt::format("api {} does not exist", quote(name)));
      return out;
    }
    for (const auto& [key, value] : *api->second) {
      if (key.starts_with('_')) continue;
      if (!out.contains(key))
        out[key] = value;
      else if (out[key] != value)
        problems_.warnings.push_back(
            fmt::format("{}.{}: differs from api {}; the value of the operation is used", path,
                        std::string_view(key), name));
    }
    return out;
  }

  void warn_about_unknown_keys() {
    for (const auto& [key, value] : posted_) {
      if (std::ranges::find(kKnownKeys, std::string_view(key)) != kKnownKeys.end()) continue;
      auto near = nearest_names(key, kKnownKeys, 1);
      problems_.warnings.push_back(
          fmt::format("{}: unknown property; the nearest is {}", std::string_view(key), near[0]));
    }
  }

  const json::object& posted_;
  unsigned cpus_;
  Job job_;
  Problems problems_;
  std::vector<std::string> wrong_operations_;
  std::size_t operation_errors_ = 0;
  std::map<std::string, const json::object*> apis_;
};

}  // namespace

CheckedJob check_job(const json::value& posted, unsigned cpus) {
  if (posted.is_object()) return Checker(posted.as_object(), cpus).run();
  CheckedJob out;
  out.name = "Custom Job";
  out.problems.errors.push_back(fmt::format("a job must be an object, got {}", json_kind(posted)));
  return out;
}

std::string CheckedJob::describe_errors() const {
  const bool of_job = wrong_operations.empty();
  std::string out = fmt::format(
      "Validation failed for {} config: {} - {} problem{}\n", of_job ? "job" : "operation",
      of_job ? name : fmt::format("{}", fmt::join(wrong_operations, ", ")), problems.errors.size(),
      problems.errors.size() == 1 ? "" : "s");
  for (const std::string& one : problems.errors) out += fmt::format("  {}\n", one);
  return out;
}

Result<json::value> parse_job(std::string_view text, const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return parse_yaml(text, path);
  return parse_json(text, path);
}

Result<json::value> read_job_file(const std::string& path) {
  PLIM_TRY(std::string text, read_file(path, kLargestJob));
  return parse_job(text, path);
}

Guarantee guarantee_of(const Job& job) {
  Guarantee out{.exactly_once = true, .reason = "the job has no output"};
  for (const OpConfig& operation : job.operations) {
    if (operation.entry->guarantee == nullptr) continue;
    Guarantee one = operation.entry->guarantee(operation.options);
    if (!one.exactly_once) return one;
    out = one;
  }
  return out;
}

}  // namespace plim::flow
