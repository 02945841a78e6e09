#include "cli/agent_command.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/agent_images.hpp"
#include "cli/agent_pools.hpp"
#include "cli/agent_run.hpp"
#include "cli/build_info.hpp"
#include "cli/commands.hpp"
#include "cli/role_log.hpp"
#include "roles/role_run.hpp"

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
Outcome<roles::AgentModules> other_modules(const Context& context, const Modules& chosen) {
  roles::AgentModules out(roles::AgentModules::Company::others);
  if (chosen.pools) {
    PLIM_CLI_TRY(auto pools, PoolsModule::make(context, roles::AgentModules::Company::others));
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
  PLIM_CLI_TRY(roles::AgentModules modules, other_modules(context, chosen));
  return roles::run_modules("agent", std::move(modules),
                            roles::agent_listen(context.values.text("metrics-listen")));
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
  if (auto can = agent::can_run(loaded.config); !can)
    return tl::unexpected(bad_config(can.error()));
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
  PLIM_CLI_TRY(roles::AgentModules others, other_modules(context, modules));
  return run_measuring(context, std::move(loaded.config), std::move(options), std::move(others));
}

Outcome<int> run_agent_check(Context& context) {
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  for (const std::string& warning : loaded.warnings)
    (void)context.world.err.write(fmt::format("warning: {}\n", warning));
  PLIM_CLI_CHECK(context.world.out.write(loaded.effective));
  return 0;
}

}  // namespace plim::cli
