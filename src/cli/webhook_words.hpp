// Accepts the flags of CPU-Pooler's webhook, which our webhook replaces.
#pragma once

#include <string>
#include <vector>

namespace plim::cli {

// Changes one dash before a long name to two, joins repeated --poolconfigs to one list and drops
// glog's output flags. Returns the words of other commands unchanged.
std::vector<std::string> webhook_words(std::vector<std::string> words);

}  // namespace plim::cli
