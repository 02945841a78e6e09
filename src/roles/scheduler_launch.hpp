// How `plimsoll up` starts the scheduler.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_scheduler(const RolePlace& place);

}  // namespace plim::roles
