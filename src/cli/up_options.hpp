// From the flags of `up` to what a cluster needs to know.
#pragma once

#include <string>
#include <vector>

#include "cli/role_children.hpp"
#include "cli/run.hpp"
#include "local/cluster/cluster.hpp"

namespace plim::cli {

struct UpPlan {
  local::cluster::ClusterOptions cluster;
  std::vector<const RoleRow*> roles;
  RoleSettings settings;
  std::vector<std::string> warnings;  // of what was read; for people
};

Outcome<UpPlan> plan_up(const Context& context);

}  // namespace plim::cli
