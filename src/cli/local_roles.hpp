// Where the roles listen that `plimsoll up` started beside a local cluster.
#pragma once

#include "base/json.hpp"
#include "cli/run.hpp"

namespace plim::cli {

// Role to address, or to an object of node to address; of the running cluster that this kubeconfig
// is of, or of the default one if no kubeconfig is named. Empty: there is none.
json::object local_roles(const Context& context);

}  // namespace plim::cli
