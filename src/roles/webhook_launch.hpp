// The webhook as a role of `plimsoll up`.
#pragma once

#include "roles/role_children.hpp"

namespace plim::roles {

Result<RoleLaunch> launch_webhook(const RolePlace& place);

// Makes the shipped Service and the configurations of pools and servo, and leads the Service to
// where the role listens. The role then fills in its certificates by itself. What somebody has
// changed of them stays.
Task<Result<void>> register_webhook(std::shared_ptr<kube::Client> client, std::string url);

// Takes all of that away, if it was made so: nobody would answer, and pods with pools would be
// refused. A Service that has pods by now keeps the pools' configuration.
Task<Result<void>> withdraw_webhook(std::shared_ptr<kube::Client> client);

}  // namespace plim::roles
