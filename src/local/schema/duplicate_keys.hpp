// Keys that occur twice in one object of a JSON text. A parsed tree only keeps the last of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plim::local {

// The paths of the duplicates in the order of the text, each once: "spec.containers[0].name".
// `text` is JSON that a parser has taken already.
std::vector<std::string> find_duplicate_keys(std::string_view text);

}  // namespace plim::local
