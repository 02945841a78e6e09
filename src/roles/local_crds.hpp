// Our own kinds on a local cluster.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::roles {

// Those of deploy/crds, each as this program has it.
Task<Result<void>> install_crds(std::shared_ptr<kube::Client> client);

}  // namespace plim::roles
