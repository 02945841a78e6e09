// From the flags of `up` to what a cluster needs to know.
#pragma once

#include <string>
#include <vector>

#include "cli/run.hpp"
#include "local/cluster/cluster.hpp"
#include "roles/role_children.hpp"

namespace plim::cli {

struct UpPlan {
  local::cluster::ClusterOptions cluster;
  std::vector<const roles::RoleRow*> roles;
  roles::RoleSettings settings;
  std::vector<std::string> warnings;  // of what was read; for people
};

Outcome<UpPlan> plan_up(const Context& context);

}  // namespace plim::cli
