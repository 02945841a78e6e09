// Objects as they reach validation: parsed, conforming and completed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver::testing {

json::value completed(std::string_view group, std::string_view kind, std::string_view text);

// Each cause as "field: message", of a create.
std::vector<std::string> faults(std::string_view group, std::string_view kind,
                                std::string_view text);
// Of an update from the first to the second.
std::vector<std::string> faults_of_update(std::string_view group, std::string_view kind,
                                          std::string_view before, std::string_view after);

}  // namespace plim::local::apiserver::testing
