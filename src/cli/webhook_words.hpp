// The ancestor's way to write the webhook's flags.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// One dash before a long name becomes two, repeated --poolconfigs one list, and where its logger
// wrote to is left out; words of other commands stay as they are.
std::vector<std::string> webhook_words(std::vector<std::string> words);

}  // namespace plim::cli
