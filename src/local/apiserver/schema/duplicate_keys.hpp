// Finds keys that occur twice in one object of a JSON text. A parsed tree keeps only the last one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver {

// The paths of the duplicates in the order of the text, each once: "spec.containers[0].name".
// `text` is valid JSON and `parsed` its tree.
std::vector<std::string> find_duplicate_keys(std::string_view text, const json::value& parsed);

}  // namespace plim::local::apiserver
