#include "cli/run.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/agent_words.hpp"
#include "cli/args.hpp"
#include "cli/help.hpp"
#include "cli/pools_words.hpp"
#include "cli/settings_file.hpp"
#include "cli/start_names.hpp"
#include "cli/webhook_words.hpp"

namespace plim::cli {
namespace {

Outcome<void> check_arguments(const Command& command, const std::vector<std::string>& given) {
  std::size_t needed = 0;
  for (const Positional& positional : command.positionals) needed += positional.optional ? 0 : 1;
  bool unlimited = !command.positionals.empty() && command.positionals.back().repeats;
  std::string usage = fmt::format("usage: plimsoll {}", usage_of(command));
  if (given.size() < needed)
    return usage_failure(
        Plm::wrong_arguments,
        fmt::format("{} needs {}", command.name, command.positionals[given.size()].metavar), usage);
  if (!unlimited && given.size() > command.positionals.size())
    return usage_failure(
        Plm::wrong_arguments,
        fmt::format("unexpected argument \"{}\"", given[command.positionals.size()]), usage);
  for (std::size_t i = 0; i < given.size() && i < command.positionals.size(); ++i) {
    std::string_view choices = command.positionals[i].choices;
    if (!choices.empty() && !is_choice(choices, given[i]))
      return usage_failure(
          Plm::wrong_arguments,
          fmt::format("\"{}\" is not a valid {}", given[i], command.positionals[i].metavar),
          fmt::format("expected one of {}", fmt::join(split_choices(choices), ", ")));
  }
  return {};
}

// Commands log warnings only, unless a flag sets the level. A daemon sets its own level.
void configure_log(const Values& values) {
  log::Level level = log::Level::warn;
  if (std::int64_t v = values.integer("v"); v > 0)
    level = v >= 4 ? log::Level::debug : log::Level::info;
  if (values.boolean("quiet")) level = log::Level::error;
  if (auto asked = log::parse_level(values.text("log-level"))) level = *asked;
  log::configure(
      {.level = level,
       .format = log::parse_format(values.text("log-format")).value_or(log::Format::text)});
}

std::string help_for(const ParsedLine& line, std::string_view program) {
  if (line.command != nullptr) return command_help(*line.command, program);
  return line.group.empty() ? program_help(program) : group_help(line.group, program);
}

Outcome<int> run_line(World& world, const std::vector<std::string>& words, std::string program) {
  PLIM_CLI_TRY(ParsedLine line, parse_line(webhook_words(agent_words(pools_words(words)))));
  if (line.help) {
    PLIM_CLI_CHECK(world.out.write(help_for(line, program)));
    return 0;
  }
  if (line.command == nullptr) {
    // Without a command, print the help but exit with a usage error, so that scripts notice.
    (void)world.err.write(help_for(line, program));
    return 2;
  }
  PLIM_CLI_CHECK(check_arguments(*line.command, line.arguments));
  SettingsFile file;
  if (!line.command->hidden) {  // an invalid settings file must not break completion
    PLIM_CLI_TRY(file, SettingsFile::load(world.env));
  }
  PLIM_CLI_TRY(Values values, settle(line, world.env, file));
  configure_log(values);
  // For "auto", `terminal` already has the right value.
  if (const std::string& color = values.text("color"); color != "auto")
    world.terminal.color = color == "always";
  Context context{world, *line.command, std::move(values), std::move(line.arguments),
                  std::move(program)};
  return line.command->run(context);
}

Outcome<int> run_as(World& world, const StartName* name, std::vector<std::string> words) {
  if (name == nullptr) return run_line(world, words, "plimsoll");
  if (name->command == "plimsoll") return run_line(world, words, "kubectl plimsoll");
  if (name->is_role) {
    words.insert(words.begin(), std::string(name->command));
    return run_line(world, words, "plimsoll");
  }
  words.insert(words.begin(), {std::string(name->command), "--"});
  return run_line(world, words, "kubectl plimsoll");
}

}  // namespace

int run(World& world, const std::vector<std::string>& words) {
  const StartName* name = words.empty() ? nullptr : find_start_name(words[0]);
  std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  auto outcome = run_as(world, name, std::move(rest));
  if (outcome) return *outcome;
  const bool plugin = name != nullptr && name->name.starts_with("kubectl");
  (void)world.err.write(format_failure(outcome.error(), plugin ? "kubectl plimsoll" : "plimsoll"));
  return outcome.error().exit;
}

}  // namespace plim::cli
