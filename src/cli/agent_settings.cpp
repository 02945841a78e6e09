#include "cli/agent_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/build_info.hpp"
#include "cli/cluster_access.hpp"
#include "cli/etcd_flags.hpp"
#include "cli/pool_places.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kUnixPrefix = "unix://";
constexpr std::chrono::milliseconds kShortestInterval{100};

Failure bad_config(const Error& error) {
  return daemon_failure(Plm::bad_agent_config, error);
}

// From --node-name or the environment; may be empty.
std::string node_name(const Context& context) {
  const std::string& name = context.values.text("node-name");
  return name.empty() ? context.world.env("NODE_NAME").value_or("") : name;
}

// Default paths are relative to the host's root. A path from a flag is used unchanged.
std::string host_path(const Context& context, std::string_view flag, const std::string& usual) {
  if (context.values.given(flag)) return context.values.text(flag);
  const std::string& root = context.values.text("host-root");
  return root == "/" ? usual : root + usual;
}

Outcome<Nanos> interval_of(const Context& context, std::string_view flag) {
  const auto interval = context.values.duration(flag);
  if (interval < kShortestInterval)
    return usage_failure(Plm::bad_flag_value, fmt::format("--{}: at least 100ms", flag));
  return Nanos(interval);
}

// The absolute path of --cri-endpoint; "" means that the agent searches for the socket.
Outcome<std::string> runtime_socket(const Context& context) {
  std::string_view socket = context.values.text("cri-endpoint");
  if (socket.starts_with(kUnixPrefix)) socket.remove_prefix(kUnixPrefix.size());
  if (!socket.empty() && !socket.starts_with('/'))
    return usage_failure(Plm::bad_flag_value,
                         "--cri-endpoint: expected the absolute path of a socket",
                         "unix:///run/containerd/containerd.sock");
  return std::string(socket);
}

Outcome<void> choose_etcd(const Context& context, roles::ImagesSettings& out) {
  PLIM_CLI_TRY(out.etcd, etcd_options(context));
  if (out.etcd.endpoints.empty())
    return usage_failure(Plm::wrong_arguments, "--publish etcd needs --etcd-endpoints",
                         "https://127.0.0.1:2379, with --etcd-cacert, --etcd-cert and --etcd-key");
  out.etcd_place.cluster = context.values.text("etcd-cluster");
  out.etcd_place.node = out.daemon.node_name;
  out.etcd_place.lease =
      std::chrono::ceil<std::chrono::seconds>(context.values.duration("etcd-lease"));
  if (out.etcd_place.lease <= out.daemon.resend)
    return usage_failure(Plm::bad_flag_value, "--etcd-lease: expected more than --images-resend");
  return {};
}

Outcome<void> choose_places(const Context& context, roles::ImagesSettings& out) {
  using roles::ImagePlace;
  std::vector<ImagePlace> places;
  for (std::string_view word : split(context.values.text("publish"), ',')) {
    const std::string_view place = trim(word);
    if (place.empty()) continue;
    if (place == "crd") {
      places.push_back(ImagePlace::crd);
    } else if (place == "annotation") {
      places.push_back(ImagePlace::annotation);
    } else if (place == "etcd") {
      PLIM_CLI_CHECK(choose_etcd(context, out));
      places.push_back(ImagePlace::etcd);
    } else {
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--publish: {} is unknown", quote(place)),
                           "use crd, annotation, etcd, comma-separated");
    }
  }
  if (places.empty())
    return usage_failure(Plm::bad_flag_value, "--publish: expected crd, annotation or etcd");
  if (context.values.boolean("dry-run")) return {};
  const auto needs_cluster = [](ImagePlace place) { return place != ImagePlace::etcd; };
  if (std::ranges::any_of(places, needs_cluster)) {
    PLIM_CLI_TRY(out.cluster, cluster_config(context));
  }
  out.places = std::move(places);
  return {};
}

}  // namespace

Outcome<agent::LoadedConfig> agent_config(const Context& context) {
  const std::string& path = context.values.text("config");
  if (path.empty())
    return usage_failure(Plm::wrong_arguments,
                         fmt::format("{} needs -c FILE", context.command.name),
                         "pass the absolute path of a configuration file, such as one of "
                         "examples/agent; or --images, or --poolconfigs DIR");
  auto loaded = agent::load_config(path, context.world.env);
  if (loaded) return std::move(*loaded);
  const std::string& message = loaded.error().message;
  const auto lines = std::ranges::count(message, '\n') + 1;
  if (lines == 1) return tl::unexpected(bad_config(loaded.error()));
  (void)context.world.err.write(message + "\n");
  return tl::unexpected(
      bad_config(fail(Code::invalid, fmt::format("{} has {} mistakes", path, lines))));
}

Outcome<roles::MeasureSettings> measure_settings(const Context& context,
                                                 agent::AgentConfig config) {
  if (auto can = agent::can_run(config); !can) return tl::unexpected(bad_config(can.error()));
  const Values& values = context.values;
  const std::int64_t iterations = values.integer("iterations");
  if (iterations < 0)
    return usage_failure(Plm::bad_flag_value, "--iterations: expected a number from 0");
  const std::string& listen = values.text("metrics-listen");
  return roles::MeasureSettings{
      .config_path = values.text("config"),
      .env = context.world.env,
      .config = std::move(config),
      .runner = {.host_root = values.text("host-root"),
                 .version = std::string(build_info().version),
                 .metrics_listen = listen == "none" ? "" : listen,
                 .cgroup_root = values.text("cgroup-root"),
                 .node_name = node_name(context),
                 .iterations = values.boolean("once") ? 1 : static_cast<std::uint64_t>(iterations)},
      .run_dir = values.text("run-dir"),
      .dry_run = values.boolean("dry-run")};
}

Outcome<roles::PoolsSettings> pools_settings(const Context& context) {
  const Values& values = context.values;
  PLIM_CLI_TRY(roles::PoolPlaces places, pool_places(values));
  roles::PoolsSettings out{.daemon = {.config = std::move(places.files),
                                      .config_maps = std::move(places.maps),
                                      .node_name = node_name(context)},
                           .cluster = {}};
  pools::DaemonOptions& daemon = out.daemon;
  if (daemon.node_name.empty())
    return tl::unexpected(Failure{.code = Plm::wrong_arguments,
                                  .exit = 1,
                                  .what = "the name of this node is missing",
                                  .next = "pass --node-name NAME, or set NODE_NAME"});
  daemon.host_root = values.text("host-root");
  daemon.kubelet_dir = host_path(context, "kubelet-dir", "/var/lib/kubelet");
  daemon.cgroup_root = values.text("cgroup-root");
  daemon.cpuset_root = values.text("cpusetroot");
  PLIM_CLI_TRY(daemon.interval, interval_of(context, "reconcile-interval"));
  daemon.format = values.text("cpu-list-format") == "ranges" ? pools::CpuListFormat::ranges
                                                             : pools::CpuListFormat::list;
  if (values.text("starter-delivery") == "plugin")
    daemon.starter = values.text("process-starter-path");
  daemon.dry_run = values.boolean("dry-run");
  daemon.annotate = values.boolean("annotate");
  daemon.strict = values.boolean("strict");
  daemon.node_report = values.boolean("node-report");
  daemon.plugin = values.text("parts") != "setter";
  daemon.setter = values.text("parts") != "plugin";
  out.cluster = cluster_config(context);
  out.run_dir = host_path(context, "run-dir", "/run/plimsoll");
  out.allow_static = values.boolean("allow-static");
  return out;
}

Outcome<roles::ImagesSettings> images_settings(const Context& context) {
  roles::ImagesSettings out{.daemon = {}};
  images::DaemonOptions& daemon = out.daemon;
  daemon.node_name = node_name(context);
  if (daemon.node_name.empty())
    return usage_failure(Plm::wrong_arguments, "the name of this node is missing",
                         "pass --node-name NAME, or set NODE_NAME");
  PLIM_CLI_TRY(daemon.socket, runtime_socket(context));
  daemon.host_root = context.values.text("host-root");
  PLIM_CLI_TRY(daemon.interval, interval_of(context, "images-interval"));
  PLIM_CLI_TRY(daemon.resend, interval_of(context, "images-resend"));
  daemon.pull_interval = std::min(daemon.pull_interval, daemon.interval);
  PLIM_CLI_CHECK(choose_places(context, out));
  out.run_dir = host_path(context, "run-dir", "/run/plimsoll");
  return out;
}

}  // namespace plim::cli
