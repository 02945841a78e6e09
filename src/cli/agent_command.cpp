#include "cli/agent_command.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/agent.hpp"
#include "base/event.hpp"
#include "base/file_watch.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "base/process.hpp"
#include "base/signals.hpp"
#include "base/text.hpp"
#include "cli/agent_images.hpp"
#include "cli/agent_pools.hpp"
#include "cli/build_info.hpp"
#include "cli/commands.hpp"
#include "cli/role_run.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kComponents =
    "measurement with !KubernetesNode or !StaticNode, !LogStorage, !FilterStorage and "
    "!PrometheusEndpoint";

Failure bad_config(const Error& error) {
  return daemon_failure(Plm::bad_agent_config, error);
}

// One level for the whole process: the file's, unless the command line has one.
void configure_logs(const Context& context, const agent::AgentConfig& config) {
  log::Level level = log::Level::info;
  for (const char* module : {"wca", "agent"})
    if (auto found = config.loggers.find(module); found != config.loggers.end()) {
      const std::string& text = found->second;
      level = text == "debug" || text == "trace" ? log::Level::debug
              : text == "warning"                ? log::Level::warn
              : text == "info"                   ? log::Level::info
                                                 : log::Level::error;
    }
  if (auto asked = log::parse_level(context.values.text("log-level"))) level = *asked;
  log::configure(
      {.level = level,
       .format = log::parse_format(context.values.text("log-format")).value_or(log::Format::text),
       .fd = STDOUT_FILENO});
}

// The agent from start to stop, again after each good reload. Lives on one loop.
class AgentRun {
 public:
  AgentRun(const Context& context, agent::AgentConfig config, agent::RunnerOptions options,
           AgentModules others)
      : context_(context),
        config_(std::move(config)),
        options_(std::move(options)),
        others_(std::move(others)) {
    if (others_.empty()) return;
    options_.usual_listen = agent_listen(context.values.text("metrics-listen"));
    options_.others = {.up = others_.up(),
                       .metrics = [] { return metrics::default_registry().expose(); },
                       .not_ready = [this] { return others_.not_ready(); },
                       .state = [this] { return others_.state(); }};
  }

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  enum class Why { running, done, stop, reload };

  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals signals(loop, {.reload = true});
    changed_ = std::make_unique<Event>(loop);
    const auto on_fatal = [this](Failure failure) { give_up(std::move(failure)); };
    if (auto started = others_.start(loop, on_fatal); !started) {
      failure_ = std::move(started.error());
      co_await stop_others();
      co_return 0;
    }
    TaskGroup watching(loop), measuring(loop);
    watching.spawn("stop", wait_for_stop(&signals));
    watching.spawn("reload", wait_for_reload(&signals));
    watching.spawn("file", wait_for_change());
    do {
      why_ = Why::running;
      failure_.reset();
      auto made = agent::Agent::make(loop, system_clock(), config_, options_);
      if (made) {
        agent_ = std::move(*made);
        measuring.spawn("measure", measure());
        while (why_ == Why::running) co_await changed_->wait();
        measuring.cancel();
        co_await measuring.join();
        co_await agent_->stop();
        agent_.reset();
      } else {
        failure_ = own_failure(made.error());
      }
    } while (why_ == Why::reload || go_back());
    co_await measuring.stop();
    co_await watching.stop();
    co_await stop_others();
    co_return 0;
  }

  // What belongs to the loop ends before it.
  Task<void> stop_others() {
    co_await others_.stop();
    others_ = AgentModules(false);
    changed_.reset();
  }

  // A file that reads well may still ask for what this machine does not have. What ran before runs
  // again then.
  bool go_back() {
    if (!failure_ || !before_ || why_ == Why::stop) return false;
    log::error("agent", "the new configuration cannot run; the old one stays",
               {{"error", failure_->what}});
    config_ = *std::exchange(before_, std::nullopt);
    return true;
  }

  Failure own_failure(const Error& error) const {
    Failure out = bad_config(error);
    if (!others_.empty()) out.what = fmt::format("module measure: {}", out.what);
    return out;
  }

  // Another module cannot go on. The process ends with its error, for whoever starts it again to
  // see.
  void give_up(Failure failure) {
    failure_ = std::move(failure);
    say(Why::stop);
  }

  void say(Why why) {
    if (why_ != Why::stop) why_ = why;
    changed_->notify();
  }

  Task<void> measure() {
    auto ran = co_await agent_->run();
    if (!ran && !failure_) failure_ = own_failure(ran.error());
    say(Why::done);
  }

  Task<void> wait_for_stop(Signals* signals) {
    co_await signals->stop_requested();
    say(Why::stop);
  }

  Task<void> wait_for_reload(Signals* signals) {
    for (;;) {
      co_await signals->reload_requested();
      others_.reload();
      reload();
    }
  }

  // Files that a kubelet mounts from a ConfigMap change without a signal.
  Task<void> wait_for_change() {
    Executor loop = co_await current_loop();
    auto watch = FileWatch::open(loop, {context_.values.text("config")});
    if (!watch) {
      log::info("agent", "only SIGHUP rereads the configuration", {{"reason", watch.error()}});
      co_return;
    }
    for (;;) {
      (void)co_await (*watch)->next();
      reload();
    }
  }

  void reload() {
    auto loaded = agent::load_config(context_.values.text("config"), context_.world.env);
    if (!loaded) {
      log::error("agent", "the configuration was not reread; the old one stays",
                 {{"error", loaded.error()}});
      return;
    }
    log::info("agent", "configuration reread");
    if (why_ == Why::running && agent_ != nullptr) before_ = config_;
    config_ = std::move(loaded->config);
    say(Why::reload);
  }

  const Context& context_;
  agent::AgentConfig config_;
  std::optional<agent::AgentConfig> before_;  // what ran until the last change
  agent::RunnerOptions options_;
  std::unique_ptr<agent::Agent> agent_;
  AgentModules others_;
  std::unique_ptr<Event> changed_;
  Why why_ = Why::running;
  std::optional<Failure> failure_;
};

// Measuring keeps no records, so a directory that was not asked for is not made either.
void prepare_run_directory(const Context& context) {
  const std::string& directory = context.values.text("run-dir");
  if (directory.empty()) return;
  auto made = make_directories(directory);
  if (made && ::access(directory.c_str(), W_OK) != 0)
    made = fail_errno(errno, fmt::format("cannot write to {}", directory));
  if (!made) log::warn("agent", "no locks and records are kept", {{"reason", made.error()}});
}

struct Modules {
  bool measure = false, pools = false, images = false;

  bool several() const { return int{measure} + int{pools} + int{images} > 1; }
};

// Those that --modules names, and those that one of their own flags asks for.
Outcome<Modules> chosen_modules(const Context& context) {
  Modules out{.measure = !context.values.text("config").empty(),
              .pools = context.values.given("poolconfigs"),
              .images = context.values.boolean("images")};
  for (std::string_view word : split(context.values.text("modules"), ',')) {
    const std::string_view module = trim(word);
    if (module == "measure")
      out.measure = true;
    else if (module == "pools")
      out.pools = true;
    else if (module == "images")
      out.images = true;
    else if (!module.empty())
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--modules: {} is not here yet", quote(module)),
                           "measure, pools and images are");
  }
  return out;
}

// All but measuring.
Outcome<AgentModules> other_modules(const Context& context, const Modules& chosen) {
  AgentModules out(chosen.several());
  if (chosen.pools) {
    PLIM_CLI_TRY(auto pools, PoolsModule::make(context, PoolsModule::Company::others));
    out.add(std::move(pools));
  }
  if (chosen.images) {
    PLIM_CLI_TRY(auto images, ImagesModule::make(context));
    out.add(std::move(images));
  }
  return out;
}

Outcome<int> run_without_measuring(const Context& context, const Modules& chosen) {
  if (!chosen.several()) return chosen.pools ? run_pools_alone(context) : run_images_alone(context);
  configure_role_log(context.values);
  PLIM_CLI_TRY(AgentModules modules, other_modules(context, chosen));
  return run_modules("agent", std::move(modules),
                     agent_listen(context.values.text("metrics-listen")));
}

}  // namespace

Outcome<void> refuse_root(const Context& context) {
  if (::geteuid() != 0 || context.values.boolean("root")) return {};
  return tl::unexpected(Failure{
      .code = Plm::root_refused,
      .exit = 2,
      .what = "running as root needs --root (-0)",
      .next = "as another user reading cgroups needs nothing; perf CAP_PERFMON, writing to cgroups "
              "CAP_DAC_OVERRIDE, moving pages CAP_SYS_NICE, resctrl root"});
}

Outcome<agent::LoadedConfig> agent_config(const Context& context) {
  const std::string& path = context.values.text("config");
  if (path.empty())
    return usage_failure(Plm::wrong_arguments,
                         fmt::format("{} needs -c FILE", context.command.name),
                         "an absolute path to a configuration file; examples/agent has some; or "
                         "--images, or --poolconfigs DIR");
  auto loaded = agent::load_config(path, context.world.env);
  if (loaded) return std::move(*loaded);
  const std::string& message = loaded.error().message;
  const auto lines = std::ranges::count(message, '\n') + 1;
  if (lines == 1) return tl::unexpected(bad_config(loaded.error()));
  (void)context.world.err.write(message + "\n");
  return tl::unexpected(
      bad_config(fail(Code::invalid, fmt::format("{} has {} mistakes", path, lines))));
}

Outcome<int> run_agent(Context& context) {
  if (context.values.boolean("version")) {
    PLIM_CLI_CHECK(context.world.out.write(fmt::format("plimsoll {}\n", build_info().version)));
    return 0;
  }
  if (context.values.given("register"))
    return tl::unexpected(Failure{.code = Plm::bad_flag_value,
                                  .exit = 1,
                                  .what = fmt::format("--register {}: no code is loaded; built in "
                                                      "are {}",
                                                      context.values.text("register"), kComponents),
                                  .shape = Failure::Shape::one_line});
  PLIM_CLI_TRY(const Modules modules, chosen_modules(context));
  if (!modules.measure && (modules.pools || modules.images))
    return run_without_measuring(context, modules);
  PLIM_CLI_CHECK(refuse_root(context));
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  const std::int64_t iterations = context.values.integer("iterations");
  if (iterations < 0)
    return usage_failure(Plm::bad_flag_value, "--iterations: expected a number from 0");
  keep_memory_small();
  configure_logs(context, loaded.config);
  for (const std::string& warning : loaded.warnings) log::warn("config", warning);
  prepare_run_directory(context);
  if (context.values.boolean("dry-run"))
    log::info("agent", "dry run: nothing is written to cgroups or resctrl");
  const std::string& listen = context.values.text("metrics-listen");
  agent::RunnerOptions options{
      .host_root = context.values.text("host-root"),
      .version = std::string(build_info().version),
      .metrics_listen = listen == "none" ? "" : listen,
      .cgroup_root = context.values.text("cgroup-root"),
      .node_name = context.values.text("node-name"),
      .iterations = context.values.boolean("once") ? 1 : static_cast<std::uint64_t>(iterations)};
  if (options.node_name.empty()) options.node_name = context.world.env("NODE_NAME").value_or("");
  PLIM_CLI_TRY(AgentModules others, other_modules(context, modules));
  return AgentRun(context, std::move(loaded.config), std::move(options), std::move(others)).run();
}

Outcome<int> run_agent_check(Context& context) {
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  for (const std::string& warning : loaded.warnings)
    (void)context.world.err.write(fmt::format("warning: {}\n", warning));
  PLIM_CLI_CHECK(context.world.out.write(loaded.effective));
  return 0;
}

}  // namespace plim::cli
