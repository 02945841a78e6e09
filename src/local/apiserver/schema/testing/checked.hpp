// Objects as validation gets them: parsed, conforming and defaulted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver::testing {

json::value completed(std::string_view group, std::string_view kind, std::string_view text);

// The causes for a creation, each as "field: message".
std::vector<std::string> faults(std::string_view group, std::string_view kind,
                                std::string_view text);
// The causes for an update from the first object to the second.
std::vector<std::string> faults_of_update(std::string_view group, std::string_view kind,
                                          std::string_view before, std::string_view after);

}  // namespace plim::local::apiserver::testing
