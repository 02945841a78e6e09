// The webhook as a role of `plimsoll up`.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_webhook(const RolePlace& place);

// Creates the Service and the webhook configurations of pools and servo from deploy/, and points
// the Service to the address of the role. The role then writes its certificates by itself. Fields
// that a user has changed are kept.
Task<Result<void>> register_webhook(std::shared_ptr<kube::Client> client, std::string url);

// Deletes these objects if register_webhook() created them. Otherwise API servers would call a
// webhook that does not answer and reject pods with pools. If the Service has pods by now, the
// configuration of the pools is kept.
Task<Result<void>> withdraw_webhook(std::shared_ptr<kube::Client> client);

}  // namespace plim::roles
