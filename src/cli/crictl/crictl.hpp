// The program under the name crictl: a client of a container runtime, for containers of local nodes
// that call `crictl images`. It has the commands that read: images, ps, pods, info and version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/run.hpp"

namespace plim::cli {

// Whether the program was started under this name.
bool is_crictl(std::string_view argv0);

// words[0] is the name under which it was started. Returns the exit code.
int run_crictl(World& world, const std::vector<std::string>& words);

}  // namespace plim::cli
