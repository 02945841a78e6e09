// The agent of a local node, as roles of `plimsoll up`: agent (what it measures), images, pools.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_agent(const RolePlace& place);

// Files put into `pools` of the state directory are taken at once, and so are the ConfigMaps of a
// real cluster, unless the environment names other places.
Result<std::string> pool_places_of(const RolePlace& place);

}  // namespace plim::roles
