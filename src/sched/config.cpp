#include "sched/config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "sched/config_args.hpp"
#include "sched/config_extenders.hpp"
#include "sched/config_fields.hpp"
#include "sched/old_names.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
constexpr std::string_view kUsualName = "default-scheduler";
constexpr std::int64_t kLargestWeight = 2147483647;

enum class FileVersion { v1beta1, v1beta2, v1beta3, v1 };

constexpr std::array<std::string_view, 4> kVersions{"v1beta1", "v1beta2", "v1beta3", "v1"};

class ConfigReader {
 public:
  ConfigReader(const YamlDocument& document, const ReadConfigOptions& options)
      : options_(options), root_(document, notes_) {}

  void read() {
    if (!read_version()) return;
    notes_.unknown_is_error = version_ == FileVersion::v1 || options_.strict;
    Configuration& out = config_;
    out.parallelism = root_.integer("parallelism", out.parallelism, {.low = 1});
    read_election();
    read_client();
    read_debugging();
    out.percentage_of_nodes = root_.integer("percentageOfNodesToScore", 0, {0, 100});
    out.initial_backoff_seconds =
        root_.integer("podInitialBackoffSeconds", out.initial_backoff_seconds, {.low = 1});
    out.max_backoff_seconds =
        root_.integer("podMaxBackoffSeconds", out.max_backoff_seconds, {.low = 1});
    if (out.max_backoff_seconds < out.initial_backoff_seconds)
      root_.error("podMaxBackoffSeconds",
                  fmt::format("{} is less than podInitialBackoffSeconds, {}",
                              out.max_backoff_seconds, out.initial_backoff_seconds));
    out.delay_cache_until_active = root_.boolean("delayCacheUntilActive", false);
    out.extenders = read_extenders(root_);
    read_profiles();
    apply_ignored_resources();
    root_.finish();
  }

  FieldNotes& notes() { return notes_; }

  Configuration take() { return std::move(config_); }

 private:
  bool read_version() {
    const std::string kind = root_.text("kind");
    const std::string version = root_.text("apiVersion");
    if (kind == "Policy") {
      refuse_policy();
      return false;
    }
    if (!kind.empty() && kind != kKind) {
      root_.error("kind", fmt::format("expected {}, found {}", kKind, quote(kind)));
      return false;
    }
    if (kind.empty()) absent("kind", kKind);
    if (version.empty()) {
      absent("apiVersion", fmt::format("{}v1", kGroup));
      return true;
    }
    const auto found = std::ranges::find_if(kVersions, [&](std::string_view known) {
      return version == fmt::format("{}{}", kGroup, known);
    });
    if (found == kVersions.end()) {
      root_.error("apiVersion", fmt::format("{} is not known; expected {}v1 or one of its betas {}",
                                            quote(version), kGroup, "v1beta1, v1beta2, v1beta3"));
      return false;
    }
    version_ = static_cast<FileVersion>(found - kVersions.begin());
    if (version_ != FileVersion::v1)
      root_.warn("apiVersion",
                 fmt::format("{} is no longer served by kube-scheduler; the file is read as "
                             "that version and converted to v1 (--write-config-to shows it)",
                             version));
    return true;
  }

  void absent(const std::string& key, std::string_view taken) {
    const std::string text = fmt::format("{} is missing, {} is taken", key, taken);
    if (options_.strict)
      root_.error_here(text);
    else
      root_.warn_here(text);
  }

  void refuse_policy() {
    std::vector<std::string> hints;
    for (const std::string list : {"predicates", "priorities"}) {
      for (Fields& item : root_.objects(list)) {
        const std::string name = item.text("name");
        const std::string_view now = successor_of_policy(name);
        if (!now.empty()) hints.push_back(fmt::format("{} is now the plugin {}", name, now));
      }
    }
    root_.error("kind", fmt::format("files of kind Policy ended with Kubernetes 1.23; write a {} "
                                    "with profiles[].plugins instead{}{}",
                                    kKind, hints.empty() ? "" : ": ", fmt::join(hints, ", ")));
  }

  void read_election() {
    ElectionConfig& out = config_.election;
    auto given = root_.object("leaderElection");
    if (!given) return;
    out.elect = given->boolean("leaderElect", out.elect);
    out.lease_duration = positive(*given, "leaseDuration", out.lease_duration);
    out.renew_deadline = positive(*given, "renewDeadline", out.renew_deadline);
    out.retry_period = positive(*given, "retryPeriod", out.retry_period);
    if (out.lease_duration <= out.renew_deadline)
      given->error("leaseDuration", "must be longer than renewDeadline");
    const std::string lock = given->text("resourceLock", "leases");
    if (lock != "leases" && !lock.empty()) {
      if (version_ == FileVersion::v1)
        given->error("resourceLock", fmt::format("{} is gone, it must be leases", quote(lock)));
      else
        given->warn("resourceLock", fmt::format("{} is gone, leases is taken", quote(lock)));
    }
    out.name = given->text("resourceName", out.name);
    out.ns = given->text("resourceNamespace", out.ns);
    if (out.elect && out.name.empty()) given->error("resourceName", "is empty");
    if (out.elect && out.ns.empty()) given->error("resourceNamespace", "is empty");
    given->finish();
  }

  static Nanos positive(Fields& fields, const std::string& key, Nanos fallback) {
    const Nanos value = fields.duration(key, fallback);
    if (value > Nanos(0)) return value;
    fields.error(key, "must be more than 0");
    return fallback;
  }

  void read_client() {
    ClientConfig& out = config_.client;
    auto given = root_.object("clientConnection");
    if (!given) return;
    out.kubeconfig = given->text("kubeconfig");
    out.accept_content_types = given->text("acceptContentTypes");
    out.content_type = given->text("contentType", out.content_type);
    out.qps = given->number("qps", out.qps);
    if (out.qps == 0) out.qps = 50;
    out.burst = given->integer("burst", out.burst, {.low = 0});
    if (out.burst == 0) out.burst = 100;
    given->finish();
  }

  void read_debugging() {
    config_.profiling = root_.boolean("enableProfiling", true);
    config_.contention_profiling = root_.boolean("enableContentionProfiling", true);
    if (version_ == FileVersion::v1) return;
    for (const std::string key : {"healthzBindAddress", "metricsBindAddress", "algorithmSource"})
      if (root_.raw(key) != nullptr) root_.warn(key, "is gone and has no effect");
  }

  void read_profiles() {
    std::vector<Fields> given = root_.objects("profiles");
    const bool alone = given.size() <= 1;
    for (Fields& fields : given) {
      ProfileConfig made;
      made.profile.scheduler_name = fields.text("schedulerName");
      if (made.profile.scheduler_name.empty()) {
        if (alone)
          made.profile.scheduler_name = kUsualName;
        else
          fields.error("schedulerName", "is missing; with several profiles each needs its own");
      } else if (config_.profile_named(made.profile.scheduler_name) != nullptr) {
        fields.error("schedulerName",
                     fmt::format("{} has a profile already", quote(made.profile.scheduler_name)));
      }
      read_profile(fields, made);
      config_.profiles.push_back(std::move(made));
    }
    if (root_.has("profiles") && given.empty()) root_.error("profiles", "at least one is needed");
    if (given.empty()) read_usual_profile();
  }

  // As one that says nothing: what a version has as defaults, and the file for all profiles, holds.
  void read_usual_profile() {
    const auto nothing = parse_yaml_document("{}", "no profile");
    Fields fields(*nothing, notes_);
    ProfileConfig made;
    made.profile.scheduler_name = kUsualName;
    read_profile(fields, made);
    config_.profiles.push_back(std::move(made));
  }

  void read_profile(Fields& fields, ProfileConfig& out) {
    out.profile.percentage_of_nodes =
        fields.integer("percentageOfNodesToScore", config_.percentage_of_nodes, {0, 100});
    old_strategy_.reset();
    PluginSets custom;
    if (auto plugins = fields.object("plugins")) read_sets(*plugins, custom);
    // Who asks for the plugin by name wants it to count.
    const auto& scored = custom.at(Point::Score).enabled;
    if (std::ranges::find(scored, PluginId::ImageLocality, &WeightedPlugin::plugin) != scored.end())
      out.profile.locality.mode = LocalityMode::Bytes;
    const bool multi_point = version_ >= FileVersion::v1beta3;
    out.sets = merge_sets(multi_point ? default_sets() : default_sets_before_multi_point(), custom);
    if (!multi_point) {
      // In v1 terms: nothing by multiPoint, every point as it stands.
      for (PluginSet& set : out.sets.points) {
        set.disables_all = true;
        set.disabled.clear();
      }
    }
    if (old_strategy_) out.profile.fit.strategy = *old_strategy_;
    read_args(fields, out);
    if (out.profile.fit.strategy == FitStrategy::RequestedToCapacityRatio &&
        out.profile.fit.shape.empty())
      fields.error("pluginConfig", "RequestedToCapacityRatio needs a shape");
    if (options_.locality_mode) out.profile.locality.mode = *options_.locality_mode;
    fields.finish();
    if (auto expanded = expand_sets(out.sets, out.profile); !expanded)
      fields.error_here(expanded.error().message);
  }

  void read_sets(Fields& plugins, PluginSets& out) {
    for (std::size_t index = 0; index < kPointCount; ++index) {
      const auto point = static_cast<Point>(index);
      if (point == Point::MultiPoint && version_ < FileVersion::v1beta3) continue;
      auto given = plugins.object(std::string(name_of(point)));
      if (!given) continue;
      PluginSet& set = out.at(point);
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

  void read_enabled(Fields& item, Point point, PluginSet& set) {
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
    if (point != Point::MultiPoint && !implements(*plugin, point)) {
      // The older plugins ran at points that their successors leave out.
      if (find_old_plugin(name) == nullptr || version_ == FileVersion::v1)
        item.error("name", fmt::format("{} does nothing at {}", quote(name), name_of(point)));
      return;
    }
    set.enabled.push_back({*plugin, weight});
  }

  // None for a name that is dropped with a warning or refused.
  std::optional<PluginId> plugin_by_name(Fields& item, const std::string& name, bool enabled) {
    if (name.empty()) {
      item.error("name", "is missing");
      return std::nullopt;
    }
    if (const auto plugin = plugin_named(name)) return plugin;
    const OldPlugin* old = find_old_plugin(name);
    if (old != nullptr && version_ != FileVersion::v1) return old_plugin(item, *old, enabled);
    std::string text = fmt::format("there is no plugin {}", quote(name));
    if (old != nullptr && old->now)
      text = fmt::format("{} is gone, use {}", quote(name), name_of(*old->now));
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
      item.warn("name", fmt::format("{} is gone and has no effect", old.name));
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
      const auto plugin = plugin_by_name(item, name, true);
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

  static void read_old_strategy(Fields& args, FitArgs& fit) {
    fit.resources = read_resource_weights(args, "resources", std::move(fit.resources));
    for (ResourceWeight& resource : fit.resources)
      if (resource.weight == 0) resource.weight = 1;
    fit.shape = read_shape(args, "shape");
  }

  // What an extender counts itself is no matter of NodeResourcesFit.
  void apply_ignored_resources() {
    std::vector<std::string> ignored;
    for (const ExtenderConfig& extender : config_.extenders)
      for (const ManagedResource& resource : extender.managed)
        if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    if (ignored.empty()) return;
    for (ProfileConfig& profile : config_.profiles) profile.profile.fit.ignored_resources = ignored;
  }

  const ReadConfigOptions& options_;
  FieldNotes notes_;
  Fields root_;
  FileVersion version_ = FileVersion::v1;
  std::optional<FitStrategy> old_strategy_;  // of the profile that is being read
  Configuration config_;
};

}  // namespace

const Profile* Configuration::profile_named(std::string_view scheduler_name) const {
  for (const ProfileConfig& profile : profiles)
    if (profile.profile.scheduler_name == scheduler_name) return &profile.profile;
  return nullptr;
}

Configuration default_configuration(const ReadConfigOptions& options) {
  Configuration out;
  out.profiles.push_back({.profile = default_profile(), .sets = default_sets()});
  if (options.locality_mode) out.profiles[0].profile.locality.mode = *options.locality_mode;
  return out;
}

Result<ConfigRead> read_configuration(std::string_view text, std::string_view source,
                                      const ReadConfigOptions& options) {
  PLIM_TRY(const YamlDocument document, parse_yaml_document(text, source));
  if (document.value().is_null())
    return fail(Code::invalid, fmt::format("{}: the file is empty", source));
  ConfigReader reader(document, options);
  reader.read();
  if (!reader.notes().errors.empty())
    return fail(Code::invalid, fmt::format("{}", fmt::join(reader.notes().errors, "\n")));
  return ConfigRead{.config = reader.take(), .warnings = std::move(reader.notes().warnings)};
}

}  // namespace plim::sched
