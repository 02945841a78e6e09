#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "base/process.hpp"
#include "base/resident.hpp"
#include "base/signals.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/servo_settings.hpp"
#include "servo/daemon.hpp"

namespace plim::cli {
namespace {

constexpr int kInternalExit = 3;
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
  return Failure{.code = Plm::bad_environment, .exit = 1, .what = error.message};
}

// The servo from start to stop. Lives on one loop.
class ServoRun {
 public:
  ServoRun(servo::Settings settings, kube::Config config, std::string ca_pem, std::string proxy)
      : settings_(std::move(settings)),
        config_(std::move(config)),
        ca_pem_(std::move(ca_pem)),
        proxy_(std::move(proxy)) {}

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    daemon_.reset();
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  Task<int> main() {
    Executor loop = co_await current_loop();
    // SIGHUP must not end us; the token file is looked at before every post anyway.
    Signals::Options reload{.reload = true};
    Signals signals(loop, reload);
    auto made = make(loop);
    if (!made) {
      failure_ = servo_failure(made.error());
      co_return 0;
    }
    auto started = co_await daemon_->start();
    MemoryTidy tidy(loop);
    if (started) {
      tidy.start();
      co_await signals.stop_requested();
    } else {
      failure_ = servo_failure(started.error());
    }
    co_await tidy.stop();
    std::string reason =
        started ? fmt::format("signal {}", signals.stop_signal()) : started.error().message;
    log::info("servo", "stopping", {{"reason", reason}});
    co_await daemon_->stop(std::move(reason));
    co_return 0;
  }

  Result<void> make(const Executor& loop) {
    PLIM_TRY(auto client, kube::Client::create(loop, config_));
    std::unique_ptr<servo::Receiver> receiver;
    if (settings_.posts()) {
      PLIM_TRY(receiver, servo::HttpReceiver::create(loop, settings_, ca_pem_, proxy_));
    }
    daemon_ = std::make_unique<servo::Daemon>(loop, settings_, std::move(client),
                                              std::move(receiver), metrics::default_registry());
    return {};
  }

  servo::Settings settings_;
  kube::Config config_;
  std::string ca_pem_, proxy_;
  std::unique_ptr<servo::Daemon> daemon_;
  std::optional<Failure> failure_;
};

}  // namespace

Outcome<int> run_servo(Context& context) {
  auto settings = servo::read_settings(servo_setting(context));
  if (!settings) return tl::unexpected(servo_failure(settings.error()));
  if (settings->store.empty()) settings->store = default_store(context);
  if (context.values.text("log-level").empty())
    log::configure({.level = settings->debug > 0 ? log::Level::debug : log::Level::info,
                    .format = context.values.text("log-format") == "json" ? log::Format::json
                                                                          : log::Format::text});
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
  keep_memory_small();
  try {
    return ServoRun(std::move(*settings), std::move(*cluster), std::move(authorities),
                    std::move(proxy))
        .run();
  } catch (const std::exception& e) {
    return tl::unexpected(Failure{.code = Plm::internal, .exit = kInternalExit, .what = e.what()});
  }
}

}  // namespace plim::cli
