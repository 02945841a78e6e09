#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "cli/build_info.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/daemon_log.hpp"
#include "cli/etcd_flags.hpp"
#include "cli/release_flags.hpp"
#include "roles/scheduler_role.hpp"
#include "sched/config.hpp"

namespace plim::cli {
namespace {

Failure scheduler_failure(Plm code, std::string what) {
  return Failure{.code = code, .exit = 1, .what = std::move(what)};
}

std::string host_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return "localhost";
  return host;
}

std::optional<placement::LocalityMode> forced_mode(const Values& values) {
  const std::string& text = values.text("image-locality-mode");
  if (text == "compat") return placement::LocalityMode::Compat;
  if (text == "bytes") return placement::LocalityMode::Bytes;
  if (text == "pulltime") return placement::LocalityMode::PullTime;
  return std::nullopt;
}

// Prints each configuration error on its own line: a failure shows only one line.
Failure config_mistakes(const Context& context, const std::string& path, const Error& error) {
  const auto lines = split(error.message, '\n');
  if (lines.size() > 1) {
    for (const std::string_view line : lines)
      (void)context.world.err.write(fmt::format("{}\n", line));
    return scheduler_failure(Plm::bad_scheduler_config,
                             fmt::format("{} has {} mistakes", path, lines.size()));
  }
  return scheduler_failure(Plm::bad_scheduler_config, error.message);
}

// Whether the flags of the request rate apply. As in kube-scheduler a file overrides them even if
// it sets no rate, except with --kube-api-fallback.
bool takes_rate_of_flags(const Values& values, bool from_file, const sched::Configuration& config) {
  return !from_file || (values.boolean("kube-api-fallback") && !config.client.sets_rate);
}

// Only the flags of leader election take precedence over a configuration file.
void apply_flags(const Values& values, bool from_file, sched::Configuration& config) {
  sched::ElectionConfig& election = config.election;
  const auto duration = [&](std::string_view flag, Nanos& out) {
    if (values.given(flag)) out = values.duration(flag);
  };
  if (values.given("leader-elect")) election.elect = values.boolean("leader-elect");
  duration("leader-elect-lease-duration", election.lease_duration);
  duration("leader-elect-renew-deadline", election.renew_deadline);
  duration("leader-elect-retry-period", election.retry_period);
  if (values.given("leader-elect-resource-name"))
    election.name = values.text("leader-elect-resource-name");
  if (values.given("leader-elect-resource-namespace"))
    election.ns = values.text("leader-elect-resource-namespace");
  if (!from_file) config.client.kubeconfig = values.text("kubeconfig");
  if (!takes_rate_of_flags(values, from_file, config)) return;
  if (const auto qps = parse_double(values.text("kube-api-qps"))) config.client.qps = *qps;
  config.client.burst = values.integer("kube-api-burst");
}

Outcome<sched::Configuration> settled_config(const Context& context,
                                             const sched::ReadConfigOptions& options) {
  const std::string& path = context.values.text("config");
  if (!parse_double(context.values.text("kube-api-qps")))
    return usage_failure(Plm::bad_flag_value, "--kube-api-qps: expected a number");
  sched::Configuration config = sched::default_configuration(options);
  if (!path.empty()) {
    auto read = roles::read_scheduler_config(path, options);
    if (!read) return tl::unexpected(config_mistakes(context, path, read.error()));
    for (const std::string& line : read->warnings)
      (void)context.world.err.write(fmt::format("warning: {}\n", line));
    config = std::move(read->config);
  }
  apply_flags(context.values, !path.empty(), config);
  if (config.election.elect)
    if (auto good = sched::check_election(config.election); !good)
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--leader-elect-…: {}", good.error().message));
  return config;
}

Outcome<kube::Config> scheduler_cluster(const Context& context,
                                        const sched::Configuration& config) {
  kube::ConfigOverrides overrides = overrides_of(context.values);
  // With a configuration file, --kubeconfig is used only if the file names no kubeconfig, or with
  // --kubeconfig-wins.
  const bool flag_wins =
      context.values.boolean("kubeconfig-wins") && !context.values.text("kubeconfig").empty();
  if (!config.client.kubeconfig.empty() && !flag_wins)
    overrides.kubeconfig = config.client.kubeconfig;
  if (!context.values.text("master").empty()) overrides.server = context.values.text("master");
  auto out = kube::load_config(overrides, context.world.env);
  if (!out) {
    Failure failure = config_failure(out.error());
    failure.exit = 1;
    return tl::unexpected(std::move(failure));
  }
  out->qps = std::max(config.client.qps, 0.0);
  out->burst = static_cast<int>(std::clamp<std::int64_t>(config.client.burst, 1, 1'000'000));
  return std::move(*out);
}

// The cluster of the kubeconfig in this flag; none if the flag is not set.
Outcome<std::optional<kube::Config>> named_cluster(const Context& context, std::string_view flag) {
  const std::string& path = context.values.text(flag);
  if (path.empty()) return std::nullopt;
  auto out = kube::load_config({.kubeconfig = path}, context.world.env);
  if (!out) return tl::unexpected(config_failure(out.error()));
  return std::move(*out);
}

// Warns about flags of kube-scheduler that have no effect here and that users may rely on. Other
// flags without effect only tune parts that do not exist here.
void warn_of_idle_flags(const Values& values) {
  const auto warn = [&](std::string_view flag, std::initializer_list<std::string_view> as_it_is) {
    const std::string& value = values.text(flag);
    if (!value.empty() && std::ranges::find(as_it_is, value) == as_it_is.end())
      log::warn("scheduler", fmt::format("--{} has no effect", flag), {{"value", value}});
  };
  warn("disabled-metrics", {});
  warn("logging-format", {"text"});
  warn("min-compatibility-version", {});
  warn("tls-cipher-suites", {});
  warn("tls-curve-preferences", {});
  warn("tls-min-version", {"VersionTLS10", "VersionTLS11", "VersionTLS12"});  // 1.2 is our oldest
  warn("tls-sni-cert-key", {});
  warn("vmodule", {});
}

Outcome<std::optional<net::ServerTls>> serving_certificate(const Values& values) {
  const std::string &certificate = values.text("tls-cert-file"),
                    &key = values.text("tls-private-key-file"), &ca = values.text("client-ca-file");
  net::ServerTls out;
  const std::array<std::pair<const std::string*, std::string*>, 3> files{
      {{&certificate, &out.certificate_pem}, {&key, &out.key_pem}, {&ca, &out.client_ca_pem}}};
  for (const auto& [path, text] : files) {
    if (path->empty()) continue;
    auto read = read_file(*path);
    if (!read) return tl::unexpected(scheduler_failure(Plm::cannot_read, read.error().message));
    *text = std::move(*read);
  }
  if (!out.certificate_pem.empty()) return out;
  const std::string& directory = values.text("cert-dir");
  if (out.client_ca_pem.empty() && directory.empty()) return std::nullopt;
  auto made = directory.empty() ? sched::self_signed_tls(host_name())
                                : sched::kept_tls(host_name(), directory);
  if (!made) return tl::unexpected(scheduler_failure(Plm::internal, made.error().message));
  made->client_ca_pem = out.client_ca_pem;
  return std::move(*made);
}

Outcome<roles::SchedulerSettings> scheduler_settings(const Context& context,
                                                     const sched::ReadConfigOptions& read,
                                                     sched::Configuration config) {
  const Values& values = context.values;
  roles::SchedulerSettings out{.config_path = values.text("config"), .read = read, .service = {}};
  sched::ServiceOptions& service = out.service;
  PLIM_CLI_TRY(service.cluster, scheduler_cluster(context, config));
  PLIM_CLI_TRY(service.token_cluster, named_cluster(context, "authentication-kubeconfig"));
  PLIM_CLI_TRY(service.rights_cluster, named_cluster(context, "authorization-kubeconfig"));
  const std::int64_t port = values.integer("secure-port");
  if (port < 0 || port > 65535)
    return usage_failure(Plm::bad_flag_value, "--secure-port: expected a number from 0 to 65535");
  const std::string& host = values.text("bind-address");
  if (port != 0)
    service.address = host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                                          : fmt::format("[{}]:{}", host, port);
  PLIM_CLI_TRY(service.tls, serving_certificate(values));
  service.lookup_client_ca = !values.boolean("authentication-skip-lookup");
  service.review.always_allowed.clear();
  for (const std::string_view path : split(values.text("authorization-always-allow-paths"), ','))
    if (!trim(path).empty()) service.review.always_allowed.emplace_back(trim(path));
  service.review.remember = values.duration("authentication-token-webhook-cache-ttl");
  service.daemon = {.config = std::make_shared<const sched::Configuration>(std::move(config)),
                    .host = host_name(),
                    .verbosity = static_cast<int>(values.integer("v")),
                    .max_unschedulable = values.duration("pod-max-in-unschedulable-pods-duration"),
                    .annotate_decisions = values.boolean("annotate-decisions"),
                    .explain_all_nodes = values.boolean("explain-full"),
                    .defer_claims = values.boolean("defer-dra")};
  PLIM_CLI_TRY(kube::EtcdOptions etcd, etcd_options(context));
  if (!etcd.endpoints.empty()) service.etcd = std::move(etcd);
  service.daemon.etcd.cluster = values.text("etcd-cluster");
  return out;
}

}  // namespace

Outcome<int> run_scheduler(Context& context) {
  const Values& values = context.values;
  if (values.boolean("version")) {
    PLIM_CLI_CHECK(context.world.out.write(fmt::format("plimsoll {}\n", build_info().version)));
    return 0;
  }
  PLIM_CLI_TRY(const ChosenRelease chosen, chosen_release(values));
  sched::ReadConfigOptions read{.strict = values.boolean("strict-config"),
                                .locality_mode = forced_mode(values),
                                .release = chosen.release};
  PLIM_CLI_TRY(sched::Configuration config, settled_config(context, read));
  if (values.boolean("check-config")) {
    PLIM_CLI_CHECK(context.world.out.write(sched::describe_plugins(config)));
    return 0;
  }
  if (const std::string& path = values.text("write-config-to"); !path.empty()) {
    const std::string text = to_yaml(sched::write_configuration(config));
    if (path == "-") {
      PLIM_CLI_CHECK(context.world.out.write(text));
      return 0;
    }
    auto written = write_file(path, text);
    if (!written)
      return tl::unexpected(scheduler_failure(Plm::cannot_write, written.error().message));
    return 0;
  }
  configure_role_log(values, values.integer("v") >= 5 ? log::Level::debug : log::Level::info);
  warn_of_idle_flags(values);
  if (const std::string& file = values.text("config");
      !file.empty() && takes_rate_of_flags(values, true, config))
    log::info("scheduler",
              "the configuration has no clientConnection.qps or burst: using those of the flags "
              "instead of kube-scheduler's 50 and 100",
              {{"config", file}, {"qps", config.client.qps}, {"burst", config.client.burst}});
  for (const std::string& gate : chosen.idle_gates)
    log::warn("scheduler", "a feature gate of --feature-gates has no effect", {{"gate", gate}});
  PLIM_CLI_TRY(roles::SchedulerSettings settings,
               scheduler_settings(context, read, std::move(config)));
  return roles::run_scheduler(std::move(settings));
}

}  // namespace plim::cli
