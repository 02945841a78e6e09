// Names under which the program may be started, other than its own.
#pragma once

#include <span>
#include <string_view>

namespace plim::cli {

struct StartName {
  std::string_view name;
  std::string_view role;  // what that name stands for
  // Where the role lives in this program; empty while the part that brings it does not exist.
  std::string_view command = {};
  bool is_role = false;  // the words that follow are the role's flags, not somebody else's words
};

std::span<const StartName> start_names();
// By the last part of a path; null for plimsoll itself and names we do not know.
const StartName* find_start_name(std::string_view argv0);

}  // namespace plim::cli
