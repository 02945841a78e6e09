// Keys that occur twice in one object of a JSON text. A parsed tree only keeps the last of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver {

// The paths of the duplicates in the order of the text, each once: "spec.containers[0].name".
// `text` is JSON and `parsed` what a parser made of it.
std::vector<std::string> find_duplicate_keys(std::string_view text, const json::value& parsed);

}  // namespace plim::local::apiserver
