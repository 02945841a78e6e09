// Finds the local cluster of a kubeconfig and the addresses of its roles.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "kube/config.hpp"
#include "local/cluster/directories.hpp"

namespace plim::roles {

// Maps a role to its address, or to an object that maps nodes to addresses. The roles are those of
// the running cluster that this kubeconfig belongs to. If `kubeconfig` is empty, the file of
// KUBECONFIG counts, else the default cluster. The result is empty if there is no such cluster.
json::object local_roles(std::string kubeconfig, const kube::GetEnv& env);

// The local cluster that this kubeconfig belongs to.
std::optional<local::cluster::ClusterDirectories> cluster_of_kubeconfig(std::string kubeconfig,
                                                                        const kube::GetEnv& env);

}  // namespace plim::roles
