// Running one command line, and what a command gets to see of the world.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/values.hpp"
#include "cli/writer.hpp"
#include "kube/config.hpp"

namespace plim::cli {

// Everything of the process that the command line reads or writes; tests bring their own.
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
  std::vector<std::string> arguments;  // positional ones
  std::string program;                 // "plimsoll", or "kubectl plimsoll" as a plug-in
};

// The whole program: words[0] is the name it was started under. Returns the exit code.
int run(World& world, const std::vector<std::string>& words);

}  // namespace plim::cli
