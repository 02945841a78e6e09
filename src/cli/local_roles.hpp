// Which local cluster is meant by those who name none, and where its roles listen.
#pragma once

#include <optional>

#include "base/json.hpp"
#include "cli/run.hpp"
#include "local/cluster/directories.hpp"

namespace plim::cli {

// Role to address, or to an object of node to address; of the running cluster that this kubeconfig
// is of, or of the default one if no kubeconfig is named. Empty: there is none.
json::object local_roles(const Context& context);

// That cluster itself.
std::optional<local::cluster::ClusterDirectories> cluster_of_kubeconfig(const Context& context);

}  // namespace plim::cli
