// Starts the agent of a local node for `plimsoll up`. It serves the roles agent (measuring), images
// and pools.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_agent(const RolePlace& place);

// The places of pool configurations: the directory `pools` in the state directory, and the
// ConfigMaps that a real cluster uses. An environment variable can replace them.
Result<std::string> pool_places_of(const RolePlace& place);

}  // namespace plim::roles
