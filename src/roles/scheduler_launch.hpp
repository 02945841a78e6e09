// How `plimsoll up` starts the scheduler.
#pragma once

#include <string>

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_scheduler(const RolePlace& place);

// Whether there is no file, or only the default that launch_scheduler() has written.
bool is_missing_config(const std::string& path);

}  // namespace plim::roles
