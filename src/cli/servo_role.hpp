// How `plimsoll up` starts the servo.
#pragma once

#include "cli/role_children.hpp"

namespace plim::cli {

Result<RoleLaunch> launch_servo(const RolePlace& place);

}  // namespace plim::cli
