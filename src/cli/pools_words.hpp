// The pools' command line as its ancestors' users write it.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// `cpu-device-plugin -poolconfigs DIR -poolconfigs DIR` and `cpusetter …` in the words of our
// table; the agent takes their flags too. Lines of other commands come back as they are.
std::vector<std::string> pools_words(std::vector<std::string> words);

}  // namespace plim::cli
