// Accepts the command line of WCA, which the agent replaces.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// Translates `agent -c FILE -l wca:WARNING -v` to `agent run -c FILE --log-level warn --version`.
// Returns the lines of other commands unchanged.
std::vector<std::string> agent_words(std::vector<std::string> words);

}  // namespace plim::cli
