// Installs our custom resource definitions on a local cluster.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::roles {

// Applies the CRDs of deploy/crds that are built into this program.
Task<Result<void>> install_crds(std::shared_ptr<kube::Client> client);

}  // namespace plim::roles
