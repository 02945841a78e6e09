// Splitting a command line into command, flags and arguments by the rules kubectl's users know
// (pflag): --flag value, --flag=value, -f value, -fvalue, -f=value, -ab for switches, -- ends
// flags.
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
  const Command* command = nullptr;  // null: none named
  std::string group = {};            // "explain" alone, without its second word
  std::vector<GivenFlag> flags = {};
  std::vector<std::string> arguments = {};
  bool help = false;
};

// Neither the number of arguments nor the values are looked at here.
Outcome<ParsedLine> parse_line(const std::vector<std::string>& words);

// For completion, where the line is still being typed: what is known about its last word.
struct CursorPlace {
  const Command* command = nullptr;
  std::string group = {};
  const Flag* value_of = nullptr;  // the cursor is at this flag's value
  std::string inline_prefix = {};  // "--output=" when the value is in the same word
  std::size_t argument_index = 0;  // else the cursor is at this argument, or at a flag's name
  bool flags_ended = false;        // after "--"
  std::vector<GivenFlag> flags = {};
};

CursorPlace place_of_cursor(const std::vector<std::string>& words);  // the last one is unfinished

}  // namespace plim::cli
