// Runs one command line and defines what a command can access.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/values.hpp"
#include "cli/writer.hpp"
#include "kube/config.hpp"

namespace plim::cli {

// The parts of the process that a command reads or writes. Tests pass their own.
struct World {
  kube::GetEnv env;
  Writer& out;
  Writer& err;
  Terminal terminal;
};

struct Context {
  World& world;
  const Command& command;
  Values values;
  std::vector<std::string> arguments;  // positional arguments
  std::string program;                 // "plimsoll", or "kubectl plimsoll" if it runs as a plug-in
};

// The whole program: words[0] is the name under which it was started. Returns the exit code.
int run(World& world, const std::vector<std::string>& words);

}  // namespace plim::cli
