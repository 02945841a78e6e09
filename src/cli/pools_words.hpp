// Accepts the command lines of CPU-Pooler, which the pools module replaces.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// Translates `cpu-device-plugin -poolconfigs DIR -poolconfigs DIR` and `cpusetter …` to our
// commands and flags. `agent` accepts these flags too. Returns the lines of other commands
// unchanged.
std::vector<std::string> pools_words(std::vector<std::string> words);

}  // namespace plim::cli
