#include "sched/config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "sched/config_extenders.hpp"
#include "sched/config_fields.hpp"
#include "sched/config_profile.hpp"
#include "sched/old_names.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
constexpr std::string_view kUsualName = "default-scheduler";

constexpr std::array<std::string_view, 4> kVersions{"v1beta1", "v1beta2", "v1beta3", "v1"};

class ConfigReader {
 public:
  ConfigReader(const YamlDocument& document, const ReadConfigOptions& options)
      : options_(options), root_(document, notes_) {}

  void read() {
    if (!read_version()) return;
    notes_.unknown_is_error = version_ == FileVersion::v1 || options_.strict;
    Configuration& out = config_;
    out.release = options_.release;
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
    out.lease_duration = duration_or(*given, "leaseDuration", out.lease_duration);
    out.renew_deadline = duration_or(*given, "renewDeadline", out.renew_deadline);
    out.retry_period = duration_or(*given, "retryPeriod", out.retry_period);
    const std::string lock = given->text("resourceLock");
    for (const auto& [key, field] :
         {std::pair("resourceName", &out.name), std::pair("resourceNamespace", &out.ns)})
      if (std::string text = given->text(key); !text.empty()) *field = std::move(text);
    given->finish();
    if (!out.elect) return;  // the rest has no effect
    if (auto good = check_election(out); !good) given->error_here(good.error().message);
    if (lock == "leases" || lock.empty()) return;
    if (version_ == FileVersion::v1)
      given->error("resourceLock", fmt::format("{} no longer exists, use leases", quote(lock)));
    else
      given->warn("resourceLock", fmt::format("{} no longer exists, using leases", quote(lock)));
  }

  // Go programs write 0 for a field that is not set, and kube-scheduler reads 0 as not set.
  static Nanos duration_or(Fields& fields, const std::string& key, Nanos usual) {
    const Nanos value = fields.duration(key, usual);
    return value == Nanos(0) ? usual : value;
  }

  void read_client() {
    ClientConfig& out = config_.client;
    auto given = root_.object("clientConnection");
    if (!given) return;
    out.kubeconfig = given->text("kubeconfig");
    out.accept_content_types = given->text("acceptContentTypes");
    out.content_type = given->text("contentType", out.content_type);
    out.qps = given->number("qps", out.qps);
    out.burst = given->integer("burst", out.burst, {.low = 0});
    out.sets_rate = (given->has("qps") && out.qps != 0) || (given->has("burst") && out.burst != 0);
    if (out.qps == 0) out.qps = 50;
    if (out.burst == 0) out.burst = 100;
    given->finish();
  }

  void read_debugging() {
    config_.profiling = root_.boolean("enableProfiling", true);
    config_.contention_profiling = root_.boolean("enableContentionProfiling", true);
    if (version_ == FileVersion::v1) return;
    for (const std::string key : {"healthzBindAddress", "metricsBindAddress", "algorithmSource"})
      if (root_.raw(key) != nullptr) root_.warn(key, "no longer exists and has no effect");
  }

  void read_profiles() {
    std::vector<Fields> given = root_.objects("profiles");
    const bool alone = given.size() <= 1;
    for (Fields& fields : given) {
      ProfileConfig made;
      made.profile.release = options_.release;
      made.profile.scheduler_name = fields.text("schedulerName");
      if (made.profile.scheduler_name.empty()) {
        if (alone)
          made.profile.scheduler_name = kUsualName;
        else
          fields.error("schedulerName", "is missing; with several profiles each needs its own");
      } else if (config_.profile_named(made.profile.scheduler_name) != nullptr) {
        fields.error("schedulerName",
                     fmt::format("{} already has a profile", quote(made.profile.scheduler_name)));
      }
      made.profile.percentage_of_nodes =
          fields.integer("percentageOfNodesToScore", config_.percentage_of_nodes, {0, 100});
      read_profile(fields, version_, options_.locality_mode, made);
      config_.profiles.push_back(std::move(made));
    }
    if (given.empty()) read_usual_profile();
  }

  // Like an empty profile: it gets the defaults of the version and what the file sets for all
  // profiles.
  void read_usual_profile() {
    const auto nothing = parse_yaml_document("{}", "no profile");
    Fields fields(*nothing, notes_);
    ProfileConfig made;
    made.profile.release = options_.release;
    made.profile.scheduler_name = kUsualName;
    made.profile.percentage_of_nodes = config_.percentage_of_nodes;
    read_profile(fields, version_, options_.locality_mode, made);
    config_.profiles.push_back(std::move(made));
  }

  // NodeResourcesFit ignores the resources that extenders manage.
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
  Configuration config_;
};

}  // namespace

const Profile* Configuration::profile_named(std::string_view scheduler_name) const {
  for (const ProfileConfig& profile : profiles)
    if (profile.profile.scheduler_name == scheduler_name) return &profile.profile;
  return nullptr;
}

Result<void> check_election(const ElectionConfig& election) {
  if (election.lease_duration <= election.renew_deadline)
    return fail(Code::invalid, "leaseDuration must be longer than renewDeadline");
  if (election.renew_deadline <= Nanos(0) || election.retry_period <= Nanos(0))
    return fail(Code::invalid, "renewDeadline and retryPeriod must be more than 0");
  return {};
}

Configuration default_configuration(const ReadConfigOptions& options) {
  Configuration out;
  out.release = options.release;
  out.profiles.push_back({.profile = placement::default_profile(options.release),
                          .sets = placement::default_sets(options.release)});
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
