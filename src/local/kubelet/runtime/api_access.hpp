// How a pod's programs reach the API: the files and variables of a service account.
#pragma once

#include <memory>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/kubelet/runtime/env.hpp"
#include "local/kubelet/runtime/node_options.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

// Writes token, ca.crt and namespace, and a kubeconfig of the same content for programs without
// mounts, below the pod's directory. Does nothing when the pod wants no token.
Task<Result<void>> write_api_access(std::shared_ptr<kube::Client> client, json::value pod,
                                    NodeOptions options, std::string directory);
// KUBERNETES_SERVICE_HOST and its kin; KUBECONFIG where nothing can be mounted.
void add_api_environment(const NodeOptions& options, const std::string& directory, bool isolated,
                         Environment& out);
// Puts the files to the usual place unless the pod has a volume there.
void add_api_mount(const NodeOptions& options, const std::string& directory, StartSpec& spec);

}  // namespace plim::local::kubelet
