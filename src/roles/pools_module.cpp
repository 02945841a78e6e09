#include "roles/pools_module.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "pools/static_manager.hpp"

namespace plim::roles {
namespace {

constexpr int kStaticManagerExit = 78;

// Creates an event on the node, if the cluster is reachable.
void report_static_manager(const PoolsSettings& settings) {
  if (!settings.cluster || settings.daemon.dry_run) return;
  Loop loop;
  run_to_end(loop, pools::report_static_manager(*settings.cluster, settings.daemon.node_name));
}

// Allows one process per node; the error names the pid of the other one.
Outcome<std::optional<FileLock>> lock_pools(const PoolsSettings& settings) {
  if (settings.daemon.dry_run || !make_directories(settings.run_dir)) return std::nullopt;
  auto taken = FileLock::acquire(settings.run_dir + "/pools.lock");
  if (taken) return std::move(*taken);
  if (taken.error().code != Code::already_exists) return std::nullopt;
  return tl::unexpected(daemon_failure(
      Plm::bad_pool_config,
      taken.error().with_context("another process already manages the pools of this node")));
}

}  // namespace

Outcome<std::unique_ptr<PoolsModule>> PoolsModule::make(PoolsSettings settings,
                                                        AgentModules::Company company) {
  std::unique_ptr<PoolsModule> out(new PoolsModule(std::move(settings)));
  pools::DaemonOptions& options = out->settings_.daemon;
  {
    Loop loop;
    options.cpu_manager_policy =
        run_to_end(loop, pools::ask_cpu_manager_policy(options.kubelet_dir));
  }
  if (options.cpu_manager_policy == "static" && !out->settings_.allow_static) {
    report_static_manager(out->settings_);
    if (company == AgentModules::Company::none)
      return tl::unexpected(Failure{.code = Plm::bad_pool_config,
                                    .exit = kStaticManagerExit,
                                    .what = pools::kStaticManagerText,
                                    .next = "set cpuManagerPolicy: none, or pass --allow-static"});
    log::error("pools", "the module pools stays off", {{"reason", pools::kStaticManagerText}});
    out->up_ = false;
    return out;
  }
  if (!out->settings_.cluster) return tl::unexpected(out->settings_.cluster.error());
  auto locked = lock_pools(out->settings_);
  if (!locked) return tl::unexpected(std::move(locked).error());
  out->lock_ = std::move(*locked);
  return out;
}

Task<Result<void>> PoolsModule::start(ModuleHost host) {
  PLIM_CO_TRY(auto client, kube::Client::create(host.loop, *settings_.cluster));
  daemon_ = std::make_unique<pools::Daemon>(host.loop, settings_.daemon, std::move(client),
                                            metrics::default_registry(), std::move(host.give_up),
                                            system_clock());
  co_return daemon_->start();
}

Task<void> PoolsModule::stop() {
  if (daemon_) co_await daemon_->stop();
  daemon_.reset();
}

// If the module is down there is nothing to do: each start reads the files.
void PoolsModule::reload() {
  if (daemon_) daemon_->reload();
}

std::string PoolsModule::not_ready() const {
  return daemon_ ? daemon_->not_ready() : "pools: not started";
}

json::value PoolsModule::state() const {
  if (daemon_) return daemon_->state();
  json::object out{{"node", settings_.daemon.node_name},
                   {"pools", json::array()},
                   {"ready", false},
                   {"reason", up_ ? "not started" : pools::kStaticManagerText},
                   {"cpuManagerPolicy", settings_.daemon.cpu_manager_policy}};
  return json::object{{"pools", std::move(out)}};
}

}  // namespace plim::roles
