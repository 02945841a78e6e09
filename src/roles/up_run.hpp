// The local cluster as a daemon: the embedded control plane, and the roles as its children.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "local/cluster/cluster.hpp"
#include "roles/errors.hpp"
#include "roles/role_children.hpp"

namespace plim::roles {

struct UpSettings {
  local::cluster::ClusterOptions cluster = {};
  std::vector<const RoleRow*> roles = {};
  RoleSettings settings = {};
};

struct UpHooks {
  std::function<void(const std::string& line)> say;             // progress messages for the user
  std::function<void(local::cluster::Cluster& cluster)> ready;  // the cluster can be used
};

// Runs until SIGTERM or SIGINT.
Outcome<int> run_up(UpSettings settings, UpHooks hooks);

}  // namespace plim::roles
