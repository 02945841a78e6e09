#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/process.hpp"
#include "base/signals.hpp"
#include "cli/commands.hpp"
#include "cli/detach.hpp"
#include "cli/local_cluster.hpp"
#include "cli/role_children.hpp"
#include "cli/role_run.hpp"
#include "cli/up_options.hpp"

namespace plim::cli {
namespace {

using Say = std::function<void(const std::string& line)>;

std::string shell_quoted(std::string_view text) {
  bool plain = text.find_first_not_of(
                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789/._-+:@%") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "'";
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string milestone_line(const std::string& what, Nanos after) {
  return fmt::format("{:8.3f} s  {}", std::chrono::duration<double>(after).count(), what);
}

// One cluster from start to stop. Lives on one loop.
class UpRun {
 public:
  UpRun(UpPlan options, Say say, std::function<void(local::cluster::Cluster&)> ready)
      : options_(std::move(options.cluster)),
        roles_(std::move(options.roles)),
        settings_(std::move(options.settings)),
        say_(std::move(say)),
        ready_(std::move(ready)) {
    options_.milestone = [this](const std::string& what, Nanos after) {
      say_(milestone_line(what, after));
    };
  }

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    cluster_.reset();
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals signals(loop);
    const local::cluster::ClusterDirectories directories = options_.directories;
    cluster_ = std::make_unique<local::cluster::Cluster>(loop, system_clock(), std::move(options_));
    auto started = co_await cluster_->start();
    if (started) {
      RoleChildren children(loop, system_clock(), *cluster_, directories, roles_, settings_);
      co_await children.register_roles();
      ready_(*cluster_);
      children.start();
      co_await signals.stop_requested();
      say_("stopping; a second signal ends it at once");
      co_await children.stop();
    } else {
      failure_ = local_failure(started.error());
    }
    co_await cluster_->stop();
    co_return 0;
  }

  local::cluster::ClusterOptions options_;
  std::vector<const RoleRow*> roles_;
  RoleSettings settings_;
  Say say_;
  std::function<void(local::cluster::Cluster&)> ready_;
  std::unique_ptr<local::cluster::Cluster> cluster_;
  std::optional<Failure> failure_;
};

std::string export_line(const std::string& kubeconfig) {
  return fmt::format("export KUBECONFIG={}\n", shell_quoted(kubeconfig));
}

constexpr std::string_view kSecurityNote =
    "note: pods are processes of yours on this machine; run in them only what you would run in "
    "your shell";

Say sayer(Context& context) {
  bool quiet = context.values.boolean("quiet");
  return [&context, quiet](const std::string& line) {
    if (!quiet) (void)context.world.err.write(line + "\n");
  };
}

Outcome<int> run_here(Context& context, UpPlan options) {
  Say say = sayer(context);
  auto ready = [&](local::cluster::Cluster& cluster) {
    if (cluster.nodes().size() > 0) say(std::string(kSecurityNote));
    (void)context.world.out.write(export_line(cluster.kubeconfig()));
  };
  auto done = UpRun(std::move(options), say, ready).run();
  if (done) say("stopped");
  return done;
}

Outcome<int> run_in_background(Context& context, UpPlan options) {
  if (auto made = local::cluster::make_private(options.cluster.directories.state); !made)
    return tl::unexpected(local_failure(made.error()));
  Say say = sayer(context);
  DetachOptions detaching{.log = options.cluster.directories.log(),
                          .wait = context.values.duration("wait"),
                          .on_line = [&](std::string_view line) { say(std::string(line)); }};
  auto go_on = [&](Starter& starter) {
    configure_role_log(context.values);
    auto tell = [&](const std::string& line) { starter.say(line); };
    auto ready = [&](local::cluster::Cluster& cluster) {
      if (cluster.nodes().size() > 0) starter.say(kSecurityNote);
      starter.ready(cluster.kubeconfig());
    };
    auto ended = UpRun(std::move(options), tell, ready).run();
    if (ended) return *ended;
    log::error("up", ended.error().what);
    starter.failed(ended.error());
    return ended.error().exit;
  };
  PLIM_CLI_TRY(std::string kubeconfig, detach(detaching, go_on));
  PLIM_CLI_CHECK(context.world.out.write(export_line(kubeconfig)));
  return 0;
}

}  // namespace

Outcome<int> run_up(Context& context) {
  PLIM_CLI_TRY(UpPlan options, plan_up(context));
  for (const std::string& warning : options.warnings)
    PLIM_CLI_CHECK(context.world.err.write(fmt::format("warning: {}\n", warning)));
  if (auto pid = local::cluster::holder_of(options.cluster.directories.lock()))
    return tl::unexpected(local_failure(
        fail(Code::already_exists, fmt::format("cluster {} is running already, as process {}",
                                               options.cluster.directories.name, *pid))));
  keep_memory_small();
  if (context.values.boolean("detach")) return run_in_background(context, std::move(options));
  return run_here(context, std::move(options));
}

}  // namespace plim::cli
