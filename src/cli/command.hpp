// What the one table of commands is made of. Parsing, help, completion, man pages and the reference
// page are all read from it, so nothing about a command is written twice.
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

// Where completion finds values that the table does not list.
enum class Live { none, file, directory, context, cluster, user, ns, node, error_code, command };

struct Flag {
  std::string_view name;  // long name without dashes
  char letter = 0;        // short name, 0: none
  Type type = Type::text;
  std::string_view metavar = {};   // what the value is called in help: "FILE"
  std::string_view fallback = {};  // the default, as text
  std::string_view help = {};
  std::string_view choices = {};  // "table|json|jsonpath="; one that ends in '=' takes a template
  Live live = Live::none;
  bool hidden = false;
  bool rare = false;           // in the manual and in completion, but not in --help
  std::string_view bare = {};  // what it stands for without a value, which then needs the '='

  bool takes_value() const { return type != Type::boolean && bare.empty(); }
};

// The same flag for a command where few people need it.
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
  bool repeats = false;  // the last one only
};

struct Example {
  std::string_view line;  // without "plimsoll "
  std::string_view comment;
};

struct Command {
  std::string_view name;         // "explain error"; the first word groups
  std::string_view summary;      // one line
  std::string_view detail = {};  // paragraphs for the manual
  std::span<const Example> examples = {};
  std::span<const Flag> flags = {};
  std::span<const Positional> positionals = {};
  std::string_view formats = {};     // choices of -o; empty: no -o, else the first is the default
  std::string_view exit_notes = {};  // "1 when a check failed"
  Run run = nullptr;
  bool hidden = false;
  bool minor = false;  // only named in the program's help
};

// What the first word of several commands stands for.
struct Group {
  std::string_view name;
  std::string_view summary;
};

// Flags that every command takes.
std::span<const Flag> global_flags();
std::span<const Command> commands();
std::span<const Group> groups();

const Command* find_command(std::string_view name);
const Flag* find_flag(const Command* command, std::string_view name);  // own flags, then global
const Flag* find_flag(const Command* command, char letter);
bool is_group(std::string_view word);  // "explain": the first word of longer names
// What -o or another flag may be for this command: the flag's own choices, or the command's
// formats.
std::string_view choices_of(const Command* command, const Flag& flag);

std::vector<std::string_view> split_choices(std::string_view choices);  // at '|'
bool is_choice(std::string_view choices, std::string_view value);
std::string usage_of(const Command& command);  // "version [--client] [-o FORMAT]"
// PLIMSOLL_DOCTOR_HOST_ROOT; without a command the name that holds for all of them.
std::string environment_name(const Command* command, const Flag& flag);

}  // namespace plim::cli
