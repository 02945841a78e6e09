// The agent's command line as its ancestor's users write it.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// `agent -c FILE -l wca:WARNING -v` in the words of our table: `agent run -c FILE --log-level warn
// --version`. Lines of other commands come back as they are.
std::vector<std::string> agent_words(std::vector<std::string> words);

}  // namespace plim::cli
