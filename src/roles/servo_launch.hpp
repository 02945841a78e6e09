// How `plimsoll up` starts the servo.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

// A pod says who it is itself, or is a Flow execution, which goes by its job's name.
inline constexpr const char* kLocalAppId =
    "spec/containers/0/env/[JOBID]|metadata/labels/\"teraslice.terascope.io/jobName\"";

Result<RoleLaunch> launch_servo(const RolePlace& place);

}  // namespace plim::roles
