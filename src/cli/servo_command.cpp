#include "base/files.hpp"
#include "base/log.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/daemon_log.hpp"
#include "cli/servo_settings.hpp"
#include "net/client.hpp"
#include "roles/servo_role.hpp"

namespace plim::cli {
namespace {

Failure servo_failure(const Error& error) {
  return daemon_failure(Plm::bad_environment, error);
}

// The CA certificates in SSL_CERT_FILE replace the system's.
Outcome<std::string> authorities_of_environment(const Context& context) {
  const auto file = context.world.env("SSL_CERT_FILE");
  if (!file || file->empty()) return std::string();
  auto text = read_file(*file);
  if (!text) return tl::unexpected(servo_failure(text.error().with_context("SSL_CERT_FILE")));
  return std::move(*text);
}

}  // namespace

Outcome<int> run_servo(Context& context) {
  auto settings = servo::read_settings(servo_setting(context));
  if (!settings) return tl::unexpected(servo_failure(settings.error()));
  if (settings->store.empty()) settings->store = roles::default_servo_store(context.world.env);
  configure_role_log(context.values, settings->debug > 0 ? log::Level::debug : log::Level::info);
  auto cluster = cluster_config(context);
  if (!cluster) {
    cluster.error().exit = 1;  // for a daemon this is a bad setting, not a missing object
    return tl::unexpected(std::move(cluster).error());
  }
  if (!settings->monitor_image.empty())
    log::info(
        "servo",
        "the servo ignores OPTUNE_SLEEPER_IMG; set it for the webhook, which adds the monitor");
  PLIM_CLI_TRY(std::string authorities, authorities_of_environment(context));
  std::string proxy =
      settings->url ? net::proxy_from_environment(settings->url->origin()) : std::string();
  return roles::run_servo({.servo = std::move(*settings),
                           .cluster = std::move(*cluster),
                           .ca_pem = std::move(authorities),
                           .proxy = std::move(proxy)});
}

}  // namespace plim::cli
