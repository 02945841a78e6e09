#include <fmt/format.h>

#include "base/log.hpp"
#include "base/process.hpp"
#include "cli/commands.hpp"
#include "cli/daemon_log.hpp"
#include "cli/local_cluster.hpp"
#include "cli/up_options.hpp"
#include "roles/detach.hpp"
#include "roles/up_run.hpp"

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

std::string export_line(const std::string& kubeconfig) {
  return fmt::format("export KUBECONFIG={}\n", shell_quoted(kubeconfig));
}

constexpr std::string_view kSecurityNote =
    "note: pods run as processes of your user; run in them only what you would run in your shell";

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
  auto done = roles::run_up(std::move(options.up), {.say = say, .ready = ready});
  if (done) say("stopped");
  return done;
}

Outcome<int> run_in_background(Context& context, UpPlan options) {
  if (auto made = local::cluster::make_private(options.up.cluster.directories.state); !made)
    return tl::unexpected(local_failure(made.error()));
  Say say = sayer(context);
  roles::DetachOptions detaching{.log = options.up.cluster.directories.log(),
                                 .wait = context.values.duration("wait"),
                                 .on_line = [&](std::string_view line) { say(std::string(line)); }};
  auto go_on = [&](roles::Starter& starter) {
    configure_role_log(context.values);
    auto tell = [&](const std::string& line) { starter.say(line); };
    auto ready = [&](local::cluster::Cluster& cluster) {
      if (cluster.nodes().size() > 0) starter.say(kSecurityNote);
      starter.ready(cluster.kubeconfig());
    };
    auto ended = roles::run_up(std::move(options.up), {.say = tell, .ready = ready});
    if (ended) return *ended;
    log::error("up", ended.error().what);
    starter.failed(ended.error());
    return ended.error().exit;
  };
  PLIM_CLI_TRY(std::string kubeconfig, roles::detach(detaching, go_on));
  PLIM_CLI_CHECK(context.world.out.write(export_line(kubeconfig)));
  return 0;
}

}  // namespace

Outcome<int> run_up(Context& context) {
  PLIM_CLI_TRY(UpPlan options, plan_up(context));
  for (const std::string& warning : options.warnings)
    PLIM_CLI_CHECK(context.world.err.write(fmt::format("warning: {}\n", warning)));
  if (!context.values.boolean("quiet"))
    for (const std::string& note : options.notes)
      PLIM_CLI_CHECK(context.world.err.write(fmt::format("note: {}\n", note)));
  if (auto pid = local::cluster::holder_of(options.up.cluster.directories.lock()))
    return tl::unexpected(local_failure(
        fail(Code::already_exists, fmt::format("cluster {} is already running as process {}",
                                               options.up.cluster.directories.name, *pid))));
  keep_memory_small();
  if (context.values.boolean("detach")) return run_in_background(context, std::move(options));
  return run_here(context, std::move(options));
}

}  // namespace plim::cli
