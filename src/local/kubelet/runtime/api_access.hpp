// How a pod's programs reach the API: the files and variables of its service account.
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

// Writes token, ca.crt and namespace below the pod's directory, and a kubeconfig with the same
// content for programs without mounts. Does nothing if the pod does not want a token.
Task<Result<void>> write_api_access(std::shared_ptr<kube::Client> client, json::value pod,
                                    NodeOptions options, std::string directory);
// KUBERNETES_SERVICE_HOST and related variables; also KUBECONFIG if mounts are not possible.
void add_api_environment(const NodeOptions& options, const std::string& directory, bool isolated,
                         Environment& out);
// Mounts the files at the usual path unless the pod has a volume there.
void add_api_mount(const NodeOptions& options, const std::string& directory, StartSpec& spec);

}  // namespace plim::local::kubelet
