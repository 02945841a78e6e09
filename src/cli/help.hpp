// Help texts: examples first, at most 24 lines.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace plim::cli {

std::string program_help(std::string_view program);
std::string command_help(const Command& command, std::string_view program);
std::string group_help(std::string_view group, std::string_view program);
std::string options_help();

// "-o, --output FORMAT": for help, manual and reference.
std::string flag_label(const Flag& flag);
// The help text of a flag, followed by its choices or its default.
std::string flag_text(const Command* command, const Flag& flag);

}  // namespace plim::cli
