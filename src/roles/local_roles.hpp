// Which local cluster is meant by those who name none, and where its roles listen.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "kube/config.hpp"
#include "local/cluster/directories.hpp"

namespace plim::roles {

// Role to address, or to an object of node to address; of the running cluster that this kubeconfig
// belongs to. An empty name means the one of KUBECONFIG, else the default cluster. The result is
// empty if there is no such cluster.
json::object local_roles(std::string kubeconfig, const kube::GetEnv& env);

// That cluster itself.
std::optional<local::cluster::ClusterDirectories> cluster_of_kubeconfig(std::string kubeconfig,
                                                                        const kube::GetEnv& env);

}  // namespace plim::roles
