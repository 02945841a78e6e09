// Discovery: which resources a server has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::kube {

// The resources of one group and version, without subresources. Code::not_found if the server does
// not have that group, for example because its CustomResourceDefinition is not installed.
Task<Result<std::vector<Resource>>> discover(std::shared_ptr<Client> client, std::string group,
                                             std::string version);

}  // namespace plim::kube
