// How `plimsoll up` starts the scheduler.
#pragma once

#include "cli/role_children.hpp"

namespace plim::cli {

Result<RoleLaunch> launch_scheduler(const RolePlace& place);

}  // namespace plim::cli
