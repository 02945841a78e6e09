#include <memory>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/pool_places.hpp"
#include "cli/role_run.hpp"
#include "pools/daemon.hpp"
#include "pools/static_manager.hpp"

namespace plim::cli {
namespace {

constexpr int kStaticManagerExit = 78;

Failure start_failure(const Error& error) {
  return daemon_failure(Plm::bad_pool_config, error);
}

// A default path lies below the host's root, a given one is taken as it is.
std::string host_path(const Context& context, std::string_view flag, const std::string& usual) {
  if (context.values.given(flag)) return context.values.text(flag);
  const std::string& root = context.values.text("host-root");
  return root == "/" ? usual : root + usual;
}

// Told to who looks at the node too, if the cluster can be reached.
Failure static_manager_failure(const Context& context, const pools::DaemonOptions& options) {
  if (auto config = cluster_config(context); config && !options.dry_run) {
    Loop loop;
    run_to_end(loop, pools::report_static_manager(std::move(*config), options.node_name));
  }
  return {.code = Plm::bad_pool_config,
          .exit = kStaticManagerExit,
          .what = pools::kStaticManagerText,
          .next = "set cpuManagerPolicy: none, or run it anyway with --allow-static"};
}

// Lives on one loop.
class PoolsRole final : public Role {
 public:
  PoolsRole(pools::DaemonOptions options, kube::Config config)
      : options_(std::move(options)), config_(std::move(config)) {}

  Task<Outcome<void>> start(Executor loop) override {
    auto client = kube::Client::create(loop, config_);
    if (!client) co_return tl::unexpected(start_failure(client.error()));
    auto on_fatal = [this](const Error& error) { give_up(start_failure(error)); };
    daemon_ = std::make_unique<pools::Daemon>(loop, options_, std::move(*client),
                                              metrics::default_registry(), on_fatal);
    auto started = daemon_->start();
    if (!started) co_return tl::unexpected(start_failure(started.error()));
    co_return Outcome<void>();
  }

  Task<void> stop(std::string) override {
    if (daemon_) co_await daemon_->stop();
  }

  void reload() override { daemon_->reload(); }

 private:
  pools::DaemonOptions options_;
  kube::Config config_;
  std::unique_ptr<pools::Daemon> daemon_;
};

}  // namespace

Outcome<int> run_pools_agent(Context& context) {
  PLIM_CLI_TRY(PoolPlaces places, pool_places(context.values));
  pools::DaemonOptions options{.config = std::move(places.files),
                               .config_maps = std::move(places.maps),
                               .node_name = context.values.text("node-name")};
  if (options.node_name.empty()) options.node_name = context.world.env("NODE_NAME").value_or("");
  if (options.node_name.empty())
    return tl::unexpected(Failure{.code = Plm::wrong_arguments,
                                  .exit = 1,
                                  .what = "pools agent does not know which node this is",
                                  .next = "--node-name NAME, or NODE_NAME in the environment"});
  options.host_root = context.values.text("host-root");
  options.kubelet_dir = host_path(context, "kubelet-dir", "/var/lib/kubelet");
  options.cgroup_root = context.values.text("cgroup-root");
  options.cpuset_root = context.values.text("cpusetroot");
  options.interval = context.values.duration("reconcile-interval");
  if (options.interval < std::chrono::milliseconds(100))
    return usage_failure(Plm::bad_flag_value, "--reconcile-interval: at least 100ms");
  options.format = context.values.text("cpu-list-format") == "ranges" ? pools::CpuListFormat::ranges
                                                                      : pools::CpuListFormat::list;
  if (context.values.text("starter-delivery") == "plugin")
    options.starter = context.values.text("process-starter-path");
  options.dry_run = context.values.boolean("dry-run");
  options.annotate = context.values.boolean("annotate");
  options.strict = context.values.boolean("strict");
  options.node_report = context.values.boolean("node-report");
  options.plugin = context.values.text("parts") != "setter";
  options.setter = context.values.text("parts") != "plugin";
  options.listen = context.values.text("metrics-listen");
  if (options.listen == "none") options.listen.clear();
  configure_role_log(context.values);
  {
    Loop loop;
    options.cpu_manager_policy =
        run_to_end(loop, pools::ask_cpu_manager_policy(options.kubelet_dir));
  }
  if (options.cpu_manager_policy == "static" && !context.values.boolean("allow-static"))
    return tl::unexpected(static_manager_failure(context, options));
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  const std::string run_dir = host_path(context, "run-dir", context.values.text("run-dir"));
  std::optional<FileLock> lock;
  if (!options.dry_run && make_directories(run_dir)) {
    auto taken = FileLock::acquire(run_dir + "/pools.lock");
    if (taken)
      lock = std::move(*taken);
    else if (taken.error().code == Code::already_exists)
      return tl::unexpected(start_failure(
          taken.error().with_context("the pools of this node are kept by another process")));
  }
  return run_role("pools", std::make_unique<PoolsRole>(std::move(options), std::move(config)));
}

}  // namespace plim::cli
