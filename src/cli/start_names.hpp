// Names under which the program may be started, other than its own.
#pragma once

#include <string_view>

namespace plim::cli {

struct StartName {
  std::string_view name;
  std::string_view command;  // what stands for it here
  bool is_role = false;  // the words that follow are the role's flags, not somebody else's words
};

// By the last part of a path; null for plimsoll itself and names we do not know.
const StartName* find_start_name(std::string_view argv0);

}  // namespace plim::cli
