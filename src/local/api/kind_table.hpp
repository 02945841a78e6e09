// The kinds every cluster has.
#pragma once

#include <vector>

#include "local/api/kinds.hpp"

namespace plim::local {

// In the order of discovery.
std::vector<Kind> built_in_kinds();

}  // namespace plim::local
