#include "cli/commands.hpp"
#include "cli/daemon_log.hpp"
#include "cli/webhook_settings.hpp"

namespace plim::cli {

Outcome<int> run_webhook(Context& context) {
  configure_role_log(context.values);
  PLIM_CLI_TRY(roles::WebhookSettings settings, webhook_settings(context));
  return roles::run_webhook(std::move(settings));
}

}  // namespace plim::cli
