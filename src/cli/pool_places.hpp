// The places of pool configurations, from --poolconfigs.
#pragma once

#include "cli/failures.hpp"
#include "cli/values.hpp"
#include "roles/webhook_pools.hpp"

namespace plim::cli {

// Without the flag, the default directories that exist.
Outcome<roles::PoolPlaces> pool_places(const Values& values);

}  // namespace plim::cli
