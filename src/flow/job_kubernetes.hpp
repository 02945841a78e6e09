// The settings of a job that only matter on Kubernetes; checked everywhere, so that a job file that
// runs here runs there too.
#pragma once

#include "base/json.hpp"
#include "flow/options.hpp"

namespace plim::flow {

void check_kubernetes_settings(json::object& job, Problems& problems);

}  // namespace plim::flow
