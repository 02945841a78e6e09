#include <filesystem>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/process.hpp"
#include "base/resident.hpp"
#include "base/signals.hpp"
#include "base/text.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "pools/daemon.hpp"
#include "pools/static_manager.hpp"

namespace plim::cli {
namespace {

constexpr int kStaticManagerExit = 78;
constexpr std::string_view kConfigMap = "configmap:";  // else a directory
constexpr std::array kUsualConfigs{"/etc/cpu-pooler", "/etc/cpu-dp"};

Failure start_failure(const Error& error) {
  return Failure{.code = Plm::bad_pool_config, .exit = 1, .what = error.message};
}

// A default path lies below the host's root, a given one is taken as it is.
std::string host_path(const Context& context, std::string_view flag, const std::string& usual) {
  if (context.values.given(flag)) return context.values.text(flag);
  const std::string& root = context.values.text("host-root");
  return root == "/" ? usual : root + usual;
}

std::vector<std::string> config_places(const Context& context) {
  std::vector<std::string> out;
  if (context.values.given("poolconfigs")) {
    for (std::string_view part : split(context.values.text("poolconfigs"), ','))
      if (!trim(part).empty() && !trim(part).starts_with(kConfigMap)) out.emplace_back(trim(part));
    return out;
  }
  std::error_code ignored;
  for (const char* usual : kUsualConfigs)
    if (std::filesystem::is_directory(usual, ignored)) out.emplace_back(usual);
  return out;
}

std::vector<std::string> config_maps(const Context& context) {
  std::vector<std::string> out;
  for (std::string_view part : split(context.values.text("poolconfigs"), ','))
    if (trim(part).starts_with(kConfigMap)) out.emplace_back(trim(part).substr(kConfigMap.size()));
  return out;
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

// The pools from start to stop. Lives on one loop.
class PoolsRun {
 public:
  PoolsRun(pools::DaemonOptions options, kube::Config config)
      : options_(std::move(options)), config_(std::move(config)) {}

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    daemon_.reset();
    done_.reset();
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals::Options reload{.reload = true};
    Signals signals(loop, reload);
    done_ = std::make_unique<Event>(loop);
    auto client = kube::Client::create(loop, config_);
    if (!client) {
      failure_ = start_failure(client.error());
      co_return 0;
    }
    auto on_fatal = [this](Error error) {
      failure_ = start_failure(error);
      done_->notify();
    };
    daemon_ = std::make_unique<pools::Daemon>(loop, options_, std::move(*client),
                                              metrics::default_registry(), on_fatal);
    auto started = daemon_->start();
    TaskGroup watching(loop);
    MemoryTidy tidy(loop);
    if (started) {
      tidy.start();
      watching.spawn("stop", wait_for_stop(&signals));
      watching.spawn("reload", wait_for_reload(&signals));
      while (!stop_ && !failure_) co_await done_->wait();
    } else {
      failure_ = start_failure(started.error());
    }
    co_await tidy.stop();
    co_await watching.stop();
    co_await daemon_->stop();
    co_return 0;
  }

  Task<void> wait_for_stop(Signals* signals) {
    co_await signals->stop_requested();
    stop_ = true;
    done_->notify();
  }

  Task<void> wait_for_reload(Signals* signals) {
    for (;;) {
      co_await signals->reload_requested();
      daemon_->reload();
    }
  }

  pools::DaemonOptions options_;
  kube::Config config_;
  std::unique_ptr<pools::Daemon> daemon_;
  std::unique_ptr<Event> done_;
  std::optional<Failure> failure_;
  bool stop_ = false;
};

}  // namespace

Outcome<int> run_pools_agent(Context& context) {
  pools::DaemonOptions options{.config = config_places(context),
                               .node_name = context.values.text("node-name")};
  if (options.node_name.empty()) options.node_name = context.world.env("NODE_NAME").value_or("");
  if (options.node_name.empty())
    return tl::unexpected(Failure{.code = Plm::wrong_arguments,
                                  .exit = 1,
                                  .what = "pools agent does not know which node this is",
                                  .next = "--node-name NAME, or NODE_NAME in the environment"});
  options.config_maps = config_maps(context);
  for (const std::string& name : options.config_maps)
    if (cut(name, '/').second.empty())
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--poolconfigs: configmap:{} has no namespace", name),
                           "configmap:kube-system/cpu-dp-configmap");
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
  if (context.values.text("log-level").empty())
    log::configure({.level = log::Level::info,
                    .format = context.values.text("log-format") == "json" ? log::Format::json
                                                                          : log::Format::text});
  options.static_manager =
      pools::KubeletRecords::cpu_manager_policy(options.kubelet_dir) == "static";
  if (options.static_manager && !context.values.boolean("allow-static"))
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
  keep_memory_small();
  return PoolsRun(std::move(options), std::move(config)).run();
}

}  // namespace plim::cli
