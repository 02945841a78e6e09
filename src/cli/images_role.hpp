// The image inventory of a local node, as a role of `plimsoll up`.
#pragma once

#include "cli/role_children.hpp"

namespace plim::cli {

Result<RoleLaunch> launch_images(const RolePlace& place);

}  // namespace plim::cli
