#include <memory>
#include <unistd.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/role_run.hpp"
#include "cli/servo_settings.hpp"
#include "servo/daemon.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kUsualPlace = "/var/lib/plimsoll";  // other roles have theirs there too
constexpr std::string_view kUsualStore = "/var/lib/plimsoll/servo";

// /var/lib as a service, the user's own place otherwise.
std::string default_store(const Context& context) {
  if (make_directories(std::string(kUsualPlace)) &&
      make_directories(std::string(kUsualStore), 0700) &&
      ::access(std::string(kUsualStore).c_str(), W_OK) == 0)
    return std::string(kUsualStore);
  std::string state = context.world.env("XDG_STATE_HOME").value_or("");
  if (state.empty()) state = context.world.env("HOME").value_or("/tmp") + "/.local/state";
  return state + "/plimsoll/servo";
}

Failure servo_failure(const Error& error) {
  return daemon_failure(Plm::bad_environment, error);
}

// Lives on one loop. SIGHUP changes nothing: the token file is looked at before every post anyway.
class ServoRole final : public Role {
 public:
  ServoRole(servo::Settings settings, kube::Config config, std::string ca_pem, std::string proxy)
      : settings_(std::move(settings)),
        config_(std::move(config)),
        ca_pem_(std::move(ca_pem)),
        proxy_(std::move(proxy)) {}

  Task<Outcome<void>> start(Executor loop) override {
    if (auto made = make(loop); !made) co_return tl::unexpected(servo_failure(made.error()));
    auto started = co_await daemon_->start();
    if (!started) co_return tl::unexpected(servo_failure(started.error()));
    co_return Outcome<void>();
  }

  Task<void> stop(std::string reason) override {
    if (daemon_) co_await daemon_->stop(std::move(reason));
  }

 private:
  Result<void> make(const Executor& loop) {
    PLIM_TRY(auto client, kube::Client::create(loop, config_));
    std::unique_ptr<servo::Receiver> receiver;
    if (settings_.posts()) {
      PLIM_TRY(receiver,
               servo::HttpReceiver::create(loop, settings_, ca_pem_, proxy_, system_clock()));
    }
    daemon_ =
        std::make_unique<servo::Daemon>(loop, settings_, std::move(client), std::move(receiver),
                                        metrics::default_registry(), system_clock());
    return {};
  }

  servo::Settings settings_;
  kube::Config config_;
  std::string ca_pem_, proxy_;
  std::unique_ptr<servo::Daemon> daemon_;
};

}  // namespace

Outcome<int> run_servo(Context& context) {
  auto settings = servo::read_settings(servo_setting(context));
  if (!settings) return tl::unexpected(servo_failure(settings.error()));
  if (settings->store.empty()) settings->store = default_store(context);
  configure_role_log(context.values, settings->debug > 0 ? log::Level::debug : log::Level::info);
  auto cluster = cluster_config(context);
  if (!cluster) {
    cluster.error().exit = 1;  // to a daemon that is a setting, and not something it looked for
    return tl::unexpected(std::move(cluster).error());
  }
  if (!settings->monitor_image.empty())
    log::info("servo", "OPTUNE_SLEEPER_IMG is for the webhook, which adds the monitor to pods");
  std::string authorities;
  if (auto file = context.world.env("SSL_CERT_FILE"); file && !file->empty()) {
    auto text = read_file(*file);
    if (!text) return tl::unexpected(servo_failure(text.error().with_context("SSL_CERT_FILE")));
    authorities = std::move(*text);
  }
  std::string proxy =
      settings->url ? net::proxy_from_environment(settings->url->origin()) : std::string();
  return run_role("servo", std::make_unique<ServoRole>(std::move(*settings), std::move(*cluster),
                                                       std::move(authorities), std::move(proxy)));
}

}  // namespace plim::cli
