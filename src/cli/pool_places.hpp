// Where pools are configured, as --poolconfigs says it.
#pragma once

#include "cli/failures.hpp"
#include "cli/values.hpp"
#include "roles/webhook_pools.hpp"

namespace plim::cli {

// Without the flag, the usual directories that are there.
Outcome<roles::PoolPlaces> pool_places(const Values& values);

}  // namespace plim::cli
