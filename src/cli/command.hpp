// The types of the table of commands. Parsing, help, completion, man pages and the reference page
// all read this table, so each fact about a command is written once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failures.hpp"

namespace plim::cli {

struct Context;
using Run = Outcome<int> (*)(Context&);

enum class Type { boolean, text, integer, duration };

// The source of completion values that the table does not list.
enum class Live { none, file, directory, context, cluster, user, ns, node, error_code, command };

struct Flag {
  std::string_view name;  // long name without dashes
  char letter = 0;        // short name, 0: none
  Type type = Type::text;
  std::string_view metavar = {};   // name of the value in help: "FILE"
  std::string_view fallback = {};  // the default, as text
  std::string_view help = {};
  std::string_view choices = {};  // "table|json|jsonpath="; a choice ending in '=' takes a template
  Live live = Live::none;
  bool hidden = false;
  bool rare = false;           // shown in the manual and in completion, but not in --help
  std::string_view bare = {};  // the value of a flag given without one; other values then need '='

  bool takes_value() const { return type != Type::boolean && bare.empty(); }
};

// Marks a flag as rare for a command where few people need it.
constexpr Flag rarely(Flag flag) {
  flag.rare = true;
  return flag;
}

struct Positional {
  std::string_view metavar;
  std::string_view help;
  std::string_view choices = {};
  Live live = Live::none;
  bool optional = false;
  bool repeats = false;  // allowed for the last positional only
};

struct Example {
  std::string_view line;  // without the leading "plimsoll "
  std::string_view comment;
};

struct Command {
  std::string_view name;         // "explain error"; the first word is the group
  std::string_view summary;      // one line
  std::string_view detail = {};  // paragraphs for the manual
  std::span<const Example> examples = {};
  std::span<const Flag> flags = {};
  std::span<const Positional> positionals = {};
  std::string_view formats = {};     // choices of -o, the first is the default; empty: no -o
  std::string_view exit_notes = {};  // "1 when a check failed"
  Run run = nullptr;
  bool hidden = false;
  bool minor = false;  // the program's help shows only its name
};

// Commands that share their first word.
struct Group {
  std::string_view name;
  std::string_view summary;
};

// Flags of every command.
std::span<const Flag> global_flags();
std::span<const Command> commands();
std::span<const Group> groups();

const Command* find_command(std::string_view name);
const Flag* find_flag(const Command* command, std::string_view name);  // also global flags
const Flag* find_flag(const Command* command, char letter);
bool is_group(std::string_view word);  // "explain": the first word of several commands
// The allowed values of a flag: its own choices, or for -o the formats of the command.
std::string_view choices_of(const Command* command, const Flag& flag);

std::vector<std::string_view> split_choices(std::string_view choices);  // at '|'
bool is_choice(std::string_view choices, std::string_view value);
std::string usage_of(const Command& command);  // "version [--client] [-o FORMAT]"
// "PLIMSOLL_DOCTOR_HOST_ROOT"; without a command, the variable that all commands read.
std::string environment_name(const Command* command, const Flag& flag);

}  // namespace plim::cli
