// Splits a command line into command, flags and arguments by the rules of pflag, as kubectl does:
// --flag value, --flag=value, -f value, -fvalue, -f=value, -ab for switches, -- ends flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace plim::cli {

struct GivenFlag {
  const Flag* flag;
  std::string value;
  std::string spelling;  // as typed: "--output", "-o"
};

struct ParsedLine {
  const Command* command = nullptr;  // null: the line names no command
  std::string group = {};            // "explain" alone, without its second word
  std::vector<GivenFlag> flags = {};
  std::vector<std::string> arguments = {};
  bool help = false;
};

// Does not check the number of arguments or their values.
Outcome<ParsedLine> parse_line(const std::vector<std::string>& words);

// For completion: what is known about the last word of an unfinished line.
struct CursorPlace {
  const Command* command = nullptr;
  std::string group = {};
  const Flag* value_of = nullptr;  // the cursor is at this flag's value
  std::string inline_prefix = {};  // "--output=" when the value is in the same word
  std::size_t argument_index = 0;  // else the cursor is at this argument, or at a flag name
  bool flags_ended = false;        // after "--"
  std::vector<GivenFlag> flags = {};
};

CursorPlace place_of_cursor(const std::vector<std::string>& words);  // the last word is unfinished

}  // namespace plim::cli
