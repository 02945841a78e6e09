// From the flags of `up` to what a cluster needs to know.
#pragma once

#include "cli/run.hpp"
#include "local/cluster/cluster.hpp"

namespace plim::cli {

Outcome<local::ClusterOptions> cluster_options(const Context& context);

}  // namespace plim::cli
