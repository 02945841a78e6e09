// The pools' command line as its ancestors' users write it.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// `cpu-device-plugin -poolconfigs DIR` and `cpusetter …` in the words of our table, and `agent
// --modules pools` as the short form it stands for. Lines of other commands come back as they are.
std::vector<std::string> pools_words(std::vector<std::string> words);

}  // namespace plim::cli
