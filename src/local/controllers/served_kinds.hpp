// Every kind that a server serves, with its verbs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::local::controllers {

struct ServedKind {
  kube::Resource resource;
  std::vector<std::string> verbs;

  bool can(std::string_view verb) const;
};

// Returns each group in its preferred version, without subresources.
Task<Result<std::vector<ServedKind>>> discover_kinds(std::shared_ptr<kube::Client> client);

}  // namespace plim::local::controllers
