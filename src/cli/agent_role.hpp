// The agent of a local node, as roles of `plimsoll up`: agent (what it measures), images, pools.
#pragma once

#include "cli/role_children.hpp"

namespace plim::cli {

Result<RoleLaunch> launch_agent(const RolePlace& place);

// Files put into `pools` of the state directory are taken at once, and so are the ConfigMaps of a
// real cluster, unless the environment names other places.
Result<std::string> pool_places_of(const RolePlace& place);

}  // namespace plim::cli
