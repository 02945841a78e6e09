#include "cli/agent_command.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/agent_settings.hpp"
#include "cli/build_info.hpp"
#include "cli/commands.hpp"
#include "cli/daemon_log.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kComponents =
    "measurement with !KubernetesNode or !StaticNode, !LogStorage, !FilterStorage and "
    "!PrometheusEndpoint";

// The whole process has one log level: the command line's, else the file's.
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

struct Modules {
  bool measure = false, pools = false, images = false;
};

// The modules that --modules names, and modules whose own flags are set.
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
                           fmt::format("--modules: {} is not supported", quote(module)),
                           "use measure, pools, images");
  }
  return out;
}

// The settings of the module measure. Also configures the log, since the file sets its level.
Outcome<roles::MeasureSettings> measuring(const Context& context) {
  PLIM_CLI_CHECK(refuse_root(context));
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  PLIM_CLI_TRY(roles::MeasureSettings out, measure_settings(context, std::move(loaded.config)));
  configure_logs(context, out.config);
  for (const std::string& warning : loaded.warnings) log::warn("config", warning);
  return out;
}

}  // namespace

Outcome<void> refuse_root(const Context& context) {
  if (::geteuid() != 0 || context.values.boolean("root")) return {};
  return tl::unexpected(
      Failure{.code = Plm::root_refused,
              .exit = 2,
              .what = "running as root needs --root (-0)",
              .next = "other users can read cgroups; perf needs CAP_PERFMON, writing cgroups "
                      "CAP_DAC_OVERRIDE, moving pages CAP_SYS_NICE, resctrl root"});
}

Outcome<int> run_agent(Context& context) {
  const Values& values = context.values;
  if (values.boolean("version")) {
    PLIM_CLI_CHECK(context.world.out.write(fmt::format("plimsoll {}\n", build_info().version)));
    return 0;
  }
  if (values.given("register"))
    return tl::unexpected(Failure{
        .code = Plm::bad_flag_value,
        .exit = 1,
        .what = fmt::format("--register {}: the agent loads no code; built-in components: {}",
                            values.text("register"), kComponents),
        .shape = Failure::Shape::one_line});
  PLIM_CLI_TRY(const Modules modules, chosen_modules(context));
  roles::AgentSettings settings{.listen = roles::agent_listen(values.text("metrics-listen"))};
  if (modules.measure || (!modules.pools && !modules.images)) {
    PLIM_CLI_TRY(settings.measure, measuring(context));
  } else {
    configure_role_log(values);
  }
  if (modules.pools) {
    PLIM_CLI_TRY(settings.pools, pools_settings(context));
  }
  if (modules.images) {
    PLIM_CLI_TRY(settings.images, images_settings(context));
  }
  return roles::run_agent(std::move(settings));
}

Outcome<int> run_pools_agent(Context& context) {
  configure_role_log(context.values);
  roles::AgentSettings settings{.listen =
                                    roles::agent_listen(context.values.text("metrics-listen"))};
  PLIM_CLI_TRY(settings.pools, pools_settings(context));
  return roles::run_agent(std::move(settings));
}

Outcome<int> run_agent_check(Context& context) {
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  for (const std::string& warning : loaded.warnings)
    (void)context.world.err.write(fmt::format("warning: {}\n", warning));
  PLIM_CLI_CHECK(context.world.out.write(loaded.effective));
  return 0;
}

}  // namespace plim::cli
