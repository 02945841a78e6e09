// Checks the settings of a job that have an effect on Kubernetes only. Every run checks them, so
// that a job file that runs locally is valid there too.
#pragma once

#include "base/json.hpp"
#include "flow/options.hpp"

namespace plim::flow {

void check_kubernetes_settings(json::object& job, Problems& problems);

}  // namespace plim::flow
