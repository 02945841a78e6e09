// The built-in kinds.
#pragma once

#include <vector>

#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// In the order of discovery.
std::vector<Kind> built_in_kinds();

}  // namespace plim::local::apiserver
