// Other names under which the program can be started, such as kube-scheduler.
#pragma once

#include <string_view>

namespace plim::cli {

struct StartName {
  std::string_view name;
  std::string_view command;  // the command that runs under this name
  bool is_role = false;      // its arguments are flags; otherwise they are passed on after "--"
};

// Looks up the file name of `argv0`. Null for plimsoll itself and for unknown names.
const StartName* find_start_name(std::string_view argv0);

}  // namespace plim::cli
