#include "cli/agent_pools.hpp"

#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/pool_places.hpp"
#include "cli/role_run.hpp"
#include "pools/static_manager.hpp"

namespace plim::cli {
namespace {

constexpr int kStaticManagerExit = 78;

// A default path lies below the host's root, a given one is taken as it is.
std::string host_path(const Context& context, std::string_view flag, const std::string& usual) {
  if (context.values.given(flag)) return context.values.text(flag);
  const std::string& root = context.values.text("host-root");
  return root == "/" ? usual : root + usual;
}

// Told to who looks at the node too, if the cluster can be reached.
void tell_of_static_manager(const Context& context, const pools::DaemonOptions& options) {
  auto config = cluster_config(context);
  if (!config || options.dry_run) return;
  Loop loop;
  run_to_end(loop, pools::report_static_manager(std::move(*config), options.node_name));
}

Outcome<pools::DaemonOptions> options_of(const Context& context) {
  PLIM_CLI_TRY(PoolPlaces places, pool_places(context.values));
  pools::DaemonOptions out{.config = std::move(places.files),
                           .config_maps = std::move(places.maps),
                           .node_name = context.values.text("node-name")};
  if (out.node_name.empty()) out.node_name = context.world.env("NODE_NAME").value_or("");
  if (out.node_name.empty())
    return tl::unexpected(Failure{.code = Plm::wrong_arguments,
                                  .exit = 1,
                                  .what = "pools agent does not know which node this is",
                                  .next = "--node-name NAME, or NODE_NAME in the environment"});
  out.host_root = context.values.text("host-root");
  out.kubelet_dir = host_path(context, "kubelet-dir", "/var/lib/kubelet");
  out.cgroup_root = context.values.text("cgroup-root");
  out.cpuset_root = context.values.text("cpusetroot");
  out.interval = context.values.duration("reconcile-interval");
  if (out.interval < std::chrono::milliseconds(100))
    return usage_failure(Plm::bad_flag_value, "--reconcile-interval: at least 100ms");
  out.format = context.values.text("cpu-list-format") == "ranges" ? pools::CpuListFormat::ranges
                                                                  : pools::CpuListFormat::list;
  if (context.values.text("starter-delivery") == "plugin")
    out.starter = context.values.text("process-starter-path");
  out.dry_run = context.values.boolean("dry-run");
  out.annotate = context.values.boolean("annotate");
  out.strict = context.values.boolean("strict");
  out.node_report = context.values.boolean("node-report");
  out.plugin = context.values.text("parts") != "setter";
  out.setter = context.values.text("parts") != "plugin";
  return out;
}

}  // namespace

Outcome<std::unique_ptr<PoolsModule>> PoolsModule::make(const Context& context,
                                                        AgentModules::Company company) {
  std::unique_ptr<PoolsModule> out(new PoolsModule());
  PLIM_CLI_TRY(out->options_, options_of(context));
  pools::DaemonOptions& options = out->options_;
  {
    Loop loop;
    options.cpu_manager_policy =
        run_to_end(loop, pools::ask_cpu_manager_policy(options.kubelet_dir));
  }
  if (options.cpu_manager_policy == "static" && !context.values.boolean("allow-static")) {
    tell_of_static_manager(context, options);
    if (company == AgentModules::Company::none)
      return tl::unexpected(
          Failure{.code = Plm::bad_pool_config,
                  .exit = kStaticManagerExit,
                  .what = pools::kStaticManagerText,
                  .next = "set cpuManagerPolicy: none, or run it anyway with --allow-static"});
    log::error("pools", "this module stays off", {{"reason", pools::kStaticManagerText}});
    out->up_ = false;
    return out;
  }
  PLIM_CLI_TRY(out->cluster_, cluster_config(context));
  const std::string run_dir = host_path(context, "run-dir", "/run/plimsoll");
  if (!options.dry_run && make_directories(run_dir)) {
    auto taken = FileLock::acquire(run_dir + "/pools.lock");
    if (taken)
      out->lock_ = std::move(*taken);
    else if (taken.error().code == Code::already_exists)
      return tl::unexpected(daemon_failure(
          Plm::bad_pool_config,
          taken.error().with_context("the pools of this node are kept by another process")));
  }
  return out;
}

Result<void> PoolsModule::start(const Executor& loop, std::function<void(Error)> on_fatal) {
  PLIM_TRY(auto client, kube::Client::create(loop, *cluster_));
  daemon_ = std::make_unique<pools::Daemon>(loop, options_, std::move(client),
                                            metrics::default_registry(), std::move(on_fatal),
                                            system_clock());
  return daemon_->start();
}

Task<void> PoolsModule::stop() {
  if (daemon_) co_await daemon_->stop();
  daemon_.reset();
}

void PoolsModule::reload() {
  daemon_->reload();
}

std::string PoolsModule::not_ready() const {
  return daemon_ ? daemon_->not_ready() : "pools: not started";
}

json::value PoolsModule::state() const {
  if (daemon_) return daemon_->state();
  json::object out{{"node", options_.node_name},
                   {"pools", json::array()},
                   {"ready", false},
                   {"reason", up_ ? "not started" : pools::kStaticManagerText},
                   {"cpuManagerPolicy", options_.cpu_manager_policy}};
  return json::object{{"pools", std::move(out)}};
}

Outcome<int> run_pools_alone(const Context& context) {
  configure_role_log(context.values);
  PLIM_CLI_TRY(auto pools, PoolsModule::make(context, AgentModules::Company::none));
  AgentModules modules(AgentModules::Company::none);
  modules.add(std::move(pools));
  return run_modules("pools", std::move(modules),
                     agent_listen(context.values.text("metrics-listen")));
}

Outcome<int> run_pools_agent(Context& context) {
  return run_pools_alone(context);
}

}  // namespace plim::cli
