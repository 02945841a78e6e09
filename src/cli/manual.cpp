#include "cli/manual.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/build_info.hpp"
#include "cli/code_texts.hpp"
#include "cli/help.hpp"
#include "flow/op.hpp"

namespace plim::cli {
namespace {

// Escapes text so that groff prints it unchanged.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  // A non-ASCII ellipsis depends on the reader's encoding.
  for (std::size_t at = 0; (at = out.find("…", at)) != out.npos;) out.replace(at, 3, "...");
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string page_name(const Command& command) {
  std::string out = fmt::format("plimsoll-{}", command.name);
  std::ranges::replace(out, ' ', '-');
  return out;
}

std::string head(std::string_view name, int section, std::string_view summary) {
  return fmt::format(".TH {} {} \"\" \"plimsoll {}\" \"Plimsoll Manual\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper(name)), section, build_info().version, roff(name), roff(summary));
}

std::string option(const Command* command, const Flag& flag) {
  std::string label(trim(flag_label(flag)));
  std::string text = flag_text(command, flag);
  if (command != nullptr && flag.name == "output") text = "one of " + text;
  return fmt::format(".TP\n.B {}\n{}.\n", roff(label), roff(text));
}

std::string lower_first(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  return out;
}

constexpr std::string_view kExitCodes =
    ".TP\n.B 0\ndone\n.TP\n.B 1\nfailed, or the thing checked is bad\n.TP\n.B 2\nusage, or "
    "unusable "
    "input\n.TP\n.B 3\nalready running, or exists\n.TP\n.B 4\nnot found\n.TP\n.B 5\ntimed "
    "out\n.TP\n.B "
    "130\ninterrupted\n";

std::string command_page(const Command& command) {
  std::string out = head(page_name(command), 1, lower_first(command.summary));
  out += fmt::format(".SH SYNOPSIS\n.B plimsoll {}\n", roff(usage_of(command)));
  out += fmt::format(".SH DESCRIPTION\n{}.\n", roff(command.summary));
  if (!command.detail.empty()) out += fmt::format(".PP\n{}\n", roff(command.detail));
  for (const Positional& positional : command.positionals)
    out += fmt::format(".TP\n.I {}\n{}\n", roff(positional.metavar), roff(positional.help));
  if (!command.examples.empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : command.examples)
    out += fmt::format(".PP\n{}:\n.PP\n.nf\n.RS 4\nplimsoll {}\n.RE\n.fi\n", roff(example.comment),
                       roff(example.line));
  out += ".SH OPTIONS\n";
  for (const Flag& flag : command.flags)
    if (!flag.hidden) out += option(&command, flag);
  if (!command.formats.empty()) out += option(&command, *find_flag(nullptr, "output"));
  out += ".PP\nThe flags of all commands are in\n.BR plimsoll (1).\n";
  out += ".SH ENVIRONMENT\n";
  for (const Flag& flag : command.flags)
    if (!flag.hidden)
      out += fmt::format(".TP\n.B {}\nsets \\-\\-{}\n", environment_name(&command, flag),
                         roff(flag.name));
  out += fmt::format(".PP\n{}\n",
                     roff(fmt::format("The flags of all commands have variables too, such as {}.",
                                      environment_name(&command, *find_flag(nullptr, "context")))));
  out += ".SH EXIT STATUS\n";
  if (!command.exit_notes.empty()) out += fmt::format("{}.\n", roff(command.exit_notes));
  out += kExitCodes;
  out += ".SH SEE ALSO\n.BR plimsoll (1),\n.BR plimsoll\\-config (5)\n";
  return out;
}

std::string program_page() {
  std::string out = head("plimsoll", 1, "places, pins, runs and measures work on Kubernetes");
  out +=
      ".SH SYNOPSIS\n.B plimsoll\n.I COMMAND\n[\\fIflags\\fR]\n.br\n.B kubectl plimsoll\n.I "
      "COMMAND\n[\\fIflags\\fR]\n";
  out +=
      ".SH DESCRIPTION\nData goes to standard output, everything else to standard error. NO_COLOR, "
      "CLICOLOR_FORCE and TERM=dumb control colours. Lines in pipes are never truncated.\n";
  out += ".SH COMMANDS\n";
  for (const Command& command : commands())
    if (!command.hidden)
      out += fmt::format(".TP\n.BR {} (1)\n{}.\n", roff(page_name(command)), roff(command.summary));
  out += ".SH OPTIONS\nEvery command has these flags.\n";
  for (const Flag& flag : global_flags()) out += option(nullptr, flag);
  out +=
      ".SH ENVIRONMENT\nA setting comes from the flag, else PLIMSOLL_<COMMAND>_<FLAG>, else "
      "PLIMSOLL_<FLAG> (only for the flags above), else the settings file. KUBECONFIG is a list of "
      "files as for kubectl.\n";
  out += ".SH EXIT STATUS\n";
  out += kExitCodes;
  out +=
      ".SH FILES\n.I ${XDG_CONFIG_HOME:\\-\\(ti/.config}/plimsoll/config.yaml\nis described in\n"
      ".BR plimsoll\\-config (5).\n";
  return out;
}

std::string settings_page() {
  std::string out = head("plimsoll-config", 5, "settings file of the plimsoll commands");
  out +=
      ".SH DESCRIPTION\n.I ${XDG_CONFIG_HOME:\\-\\(ti/.config}/plimsoll/config.yaml\nis optional. "
      "Its keys are names of flags that every command has, and names of commands with their flags "
      "below. Any other key is an error. Flags and environment variables override the file.\n";
  out +=
      ".SH EXAMPLE\n.nf\n.RS 4\ncontext: staging\noutput: wide\ndoctor:\n  host\\-root: /host\n"
      "explain:\n  error:\n    output: json\n.RE\n.fi\n";
  out += ".SH KEYS\n";
  auto key = [&](std::string_view path, const Command* command, const Flag& flag) {
    if (flag.hidden || flag.name == "help") return;
    out += fmt::format(".TP\n.B {}\n{}.\n", roff(path), roff(flag_text(command, flag)));
  };
  for (const Flag& flag : global_flags()) key(flag.name, nullptr, flag);
  for (const Command& command : commands()) {
    std::string prefix(command.name);
    std::ranges::replace(prefix, ' ', '.');
    for (const Flag& flag : command.flags)
      key(fmt::format("{}.{}", prefix, flag.name), &command, flag);
  }
  out += ".SH SEE ALSO\n.BR plimsoll (1)\n";
  return out;
}

std::string job_page() {
  std::string out = head("plimsoll-flow-job", 5, "job files of plimsoll flow");
  out +=
      ".SH DESCRIPTION\nFiles named *.yaml or *.yml are YAML, all others JSON. A job has a\n.BR "
      "name ,\nthe number of\n.BR workers ,\n.B max_retries\nof a slice, and a list of\n.BR "
      "operations .\nThe first operation is a reader; the others are processors and senders. The "
      "key\n.B _op\nis the name of the operation; the other keys are its options.\n";
  out +=
      ".SH EXAMPLE\n.nf\n.RS 4\nname: visits\nworkers: 2\noperations:\n  \\- _op: data_generator\n"
      "    size: 20000\n  \\- _op: file_exporter\n    path: out\n.RE\n.fi\n";
  out += ".SH OPERATIONS\n";
  for (const flow::OpEntry& entry : flow::op_table()) {
    out += fmt::format(".SS {}\nA {}: {}.\n", roff(entry.name), flow::kind_name(entry.kind),
                       roff(entry.summary));
    for (const flow::Option& option : entry.options) {
      std::string notes(flow::type_name(option.type));
      if (option.required) notes += ", required";
      if (!option.choices.empty()) notes += fmt::format(", one of {}", option.choices);
      if (!option.fallback.empty()) notes += fmt::format(", default {}", option.fallback);
      out +=
          fmt::format(".TP\n.B {}\n{} ({}).\n", roff(option.name), roff(option.help), roff(notes));
    }
  }
  out += ".SH SEE ALSO\n.BR plimsoll\\-flow\\-run (1),\n.BR plimsoll\\-flow\\-ops (1)\n";
  return out;
}

// '|' ends a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string flag_table(const Command* command, std::span<const Flag> flags) {
  std::string out = "| flag | environment | meaning |\n|---|---|---|\n";
  for (const Flag& flag : flags)
    if (!flag.hidden)
      out += fmt::format("| `{}` | `{}` | {} |\n", trim(flag_label(flag)),
                         environment_name(command, flag), cell(flag_text(command, flag)));
  return out;
}

std::string command_reference() {
  std::string out =
      "# Commands\n\n`plimsoll man --markdown docs/reference` generates this page; do not edit "
      "it.\n\n## Flags of all commands\n\n";
  out += flag_table(nullptr, global_flags());
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    out += fmt::format("\n## plimsoll {}\n\n{}.", command.name, command.summary);
    if (!command.detail.empty()) out += fmt::format(" {}", command.detail);
    out += "\n";
    if (!command.examples.empty()) out += "\n```sh\n";
    for (const Example& example : command.examples)
      out += fmt::format("plimsoll {}   # {}\n", example.line, example.comment);
    if (!command.examples.empty()) out += "```\n";
    out += fmt::format("\nUsage: `plimsoll {}`\n", usage_of(command));
    if (!command.formats.empty())
      out += fmt::format("\n`-o`: {}\n", flag_text(&command, *find_flag(nullptr, "output")));
    if (!command.flags.empty()) out += "\n" + flag_table(&command, command.flags);
    if (!command.exit_notes.empty()) out += fmt::format("\nExit code: {}.\n", command.exit_notes);
  }
  return out;
}

std::string error_reference() {
  std::string out =
      "# Error codes\n\n`plimsoll man --markdown docs/reference` generates this page; do not edit "
      "it.\n\n| code | what | meaning | what to do |\n|---|---|---|---|\n";
  for (const CodeText& error : code_texts())
    out += fmt::format("| {} | {} | {} | {} |\n", error.code, cell(error.title),
                       cell(error.meaning), cell(error.remedy));
  return out;
}

}  // namespace

std::vector<Page> manual_pages() {
  std::vector<Page> out{{"plimsoll.1", program_page()},
                        {"plimsoll-config.5", settings_page()},
                        {"plimsoll-flow-job.5", job_page()}};
  for (const Command& command : commands())
    if (!command.hidden) out.push_back({page_name(command) + ".1", command_page(command)});
  return out;
}

std::vector<Page> reference_pages() {
  return {{"cli.md", command_reference()}, {"errors.md", error_reference()}};
}

}  // namespace plim::cli
