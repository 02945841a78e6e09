// Converts the flags of `webhook` to the settings of its role.
#pragma once

#include "cli/run.hpp"
#include "roles/webhook_role.hpp"

namespace plim::cli {

Outcome<roles::WebhookSettings> webhook_settings(const Context& context);

}  // namespace plim::cli
