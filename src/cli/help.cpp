#include "cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::cli {
namespace {

struct Row {
  std::string left;
  std::string right;
};

std::string columns(const std::vector<Row>& rows) {
  constexpr std::size_t kWidestLeft = 34;
  std::size_t width = 0;
  for (const Row& row : rows)
    if (row.left.size() <= kWidestLeft) width = std::max(width, row.left.size());
  std::string out;
  for (const Row& row : rows) out += fmt::format("  {:<{}}   {}\n", row.left, width, row.right);
  return out;
}

// The comment of an example that is too wide for two columns is printed above the example.
std::string examples(const Command& command, std::string_view program) {
  constexpr std::size_t kWidestLine = 44;
  std::vector<Row> rows;
  bool wide = false;
  for (const Example& example : command.examples) {
    rows.push_back(
        {fmt::format("{} {}", program, example.line), fmt::format("# {}", example.comment)});
    wide = wide || rows.back().left.size() > kWidestLine;
  }
  std::string out = "Examples:\n";
  if (!wide) {
    std::size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row.left.size());
    for (const Row& row : rows) out += fmt::format("  {:<{}}   {}\n", row.left, width, row.right);
    return out;
  }
  for (const Row& row : rows) out += fmt::format("  {}\n  {}\n", row.right, row.left);
  return out;
}

std::vector<Row> command_rows(std::string_view prefix) {
  std::vector<Row> rows;
  for (const Command& command : commands())
    if (!command.hidden && command.name.starts_with(prefix))
      rows.push_back({std::string(command.name), std::string(command.summary)});
  return rows;
}

// The commands of one group share a line: "store compact|dump|verify".
std::vector<Row> program_rows() {
  std::vector<Row> rows;
  for (const Command& command : commands()) {
    if (command.hidden || command.minor) continue;
    auto [first, second] = cut(command.name, ' ');
    auto group = std::ranges::find(groups(), first, &Group::name);
    if (group == groups().end()) {
      rows.push_back({std::string(command.name), std::string(command.summary)});
    } else if (!rows.empty() && rows.back().left.starts_with(fmt::format("{} ", first))) {
      rows.back().left += fmt::format("|{}", second);
    } else {
      rows.push_back({std::string(command.name), std::string(group->summary)});
    }
  }
  return rows;
}

// The names of minor commands. A subcommand appears in the help of its command instead. Commands
// with the same first word share one entry.
std::string minor_names() {
  std::string out;
  std::string_view last;
  for (const Command& command : commands()) {
    const auto [first, second] = cut(command.name, ' ');
    if (!command.minor || (!second.empty() && find_command(first) != nullptr)) continue;
    if (!second.empty() && first == last)
      out += fmt::format("|{}", second);
    else
      out += fmt::format("{}{}", out.empty() ? "" : ", ", command.name);
    last = first;
  }
  return out;
}

// "pools agent|validate" for pools; "" for most commands.
std::string commands_of(const Command& parent) {
  std::string out;
  for (const Command& command : commands())
    if (!command.hidden && command.name.starts_with(fmt::format("{} ", parent.name)))
      out += fmt::format("{}{}", out.empty() ? fmt::format("{} ", parent.name) : "|",
                         command.name.substr(parent.name.size() + 1));
  return out;
}

std::string join_choices(std::string_view choices) {
  std::string out;
  for (std::string_view choice : split_choices(choices))
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", choice, choice.ends_with('=') ? "…" : "");
  return out;
}

}  // namespace

std::string flag_label(const Flag& flag) {
  std::string out = flag.letter != 0 ? fmt::format("-{}, ", flag.letter) : "    ";
  if (flag.name.size() == 1)
    out = fmt::format("-{}, --{}", flag.letter, flag.name);
  else
    out += fmt::format("--{}", flag.name);
  if (flag.takes_value()) out += fmt::format(" {}", flag.metavar);
  if (!flag.bare.empty()) out += fmt::format("[={}]", flag.metavar);
  return out;
}

std::string flag_text(const Command* command, const Flag& flag) {
  std::string_view choices = choices_of(command, flag);
  if (command != nullptr && flag.name == "output") return join_choices(choices);
  std::string out(flag.help);
  bool shows_default = flag.takes_value() && !flag.fallback.empty() && flag.fallback != "0";
  if (shows_default) out += fmt::format(" (default {})", flag.fallback);
  return out;
}

std::string program_help(std::string_view program) {
  std::string out =
      "Plimsoll places, pins, runs and measures work on Kubernetes, and says what to change.\n\n"
      "Examples:\n";
  out += columns({{fmt::format("{} up", program), "# start a cluster on this machine"}});
  out += "\nCommands:\n";
  out += columns(program_rows());
  out += fmt::format("  also: {}\n", minor_names());
  out += fmt::format(
      "\nUsage: {} COMMAND [flags]; COMMAND --help shows its flags, {} options the common ones.\n",
      program, program);
  return out;
}

std::string command_help(const Command& command, std::string_view program) {
  std::string out = fmt::format("{}.\n\n", command.summary);
  if (!command.examples.empty()) out += examples(command, program) + "\n";
  out += fmt::format("Usage: {} {}\n", program, usage_of(command));
  std::vector<Row> rows;
  for (const Positional& positional : command.positionals)
    rows.push_back({fmt::format("    {}", positional.metavar), std::string(positional.help)});
  bool more = false;
  for (const Flag& flag : command.flags) {
    more = more || flag.rare;
    if (!flag.hidden && !flag.rare) rows.push_back({flag_label(flag), flag_text(&command, flag)});
  }
  if (!command.formats.empty()) {
    const Flag& output = *find_flag(nullptr, "output");
    rows.push_back({flag_label(output), flag_text(&command, output)});
  }
  if (!rows.empty()) out += "\n" + columns(rows);
  out += '\n';
  if (!command.exit_notes.empty()) out += fmt::format("Exit code: {}.\n", command.exit_notes);
  if (const std::string others = commands_of(command); !others.empty())
    out += fmt::format("Other commands: {} {}.\n", program, others);
  if (more) out += "docs/reference/cli.md lists more flags. ";
  return out + fmt::format("{} options lists the flags of all commands.\n", program);
}

std::string group_help(std::string_view group, std::string_view program) {
  std::string out = fmt::format("Usage: {} {} COMMAND [flags]\n\nCommands:\n", program, group);
  return out + columns(command_rows(fmt::format("{} ", group)));
}

std::string options_help() {
  std::string out = "Flags of all commands:\n\n";
  std::vector<Row> rows;
  for (const Flag& flag : global_flags())
    rows.push_back({flag_label(flag), flag_text(nullptr, flag)});
  out += columns(rows);
  out +=
      "\nA setting comes from the flag, else PLIMSOLL_<COMMAND>_<FLAG>, else PLIMSOLL_<FLAG>, "
      "else\n${XDG_CONFIG_HOME:-~/.config}/plimsoll/config.yaml. More: man plimsoll\n";
  return out;
}

}  // namespace plim::cli
