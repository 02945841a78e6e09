// The Kubernetes version of an API server.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::roles {

struct ServerVersion {
  std::string text;  // "v1.34.2"
  int major = 0;
  int minor = 0;
};

Task<Result<ServerVersion>> server_version(std::shared_ptr<kube::Client> client,
                                           std::chrono::milliseconds timeout);

}  // namespace plim::roles
