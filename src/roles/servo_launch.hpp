// How `plimsoll up` starts the servo.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

// The path of a pod's application ID: JOBID of the first container, else the job name of a Flow
// execution.
inline constexpr const char* kLocalAppId =
    "spec/containers/0/env/[JOBID]|metadata/labels/\"teraslice.terascope.io/jobName\"";

Result<RoleLaunch> launch_servo(const RolePlace& place);

}  // namespace plim::roles
