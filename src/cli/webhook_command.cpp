#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/rfc3339.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/role_run.hpp"
#include "cli/webhook_pools.hpp"
#include "cli/webhook_settings.hpp"
#include "kube/event_recorder.hpp"
#include "webhook/cert_rotation.hpp"
#include "webhook/expiry_watch.hpp"
#include "webhook/server.hpp"

namespace plim::cli {
namespace {

// Unique among the replicas of a Deployment, and among processes of one machine.
std::string replica_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("{}_{}", host, ::getpid());
}

// Lives on one loop.
class WebhookRole final : public Role {
 public:
  explicit WebhookRole(WebhookSettings settings) : settings_(std::move(settings)) {}

  Task<Outcome<void>> start(Executor loop) override {
    Outcome<net::ServerTls> certificate = co_await first_certificate(loop);
    if (!certificate) co_return tl::unexpected(std::move(certificate.error()));
    Outcome<void> listening = co_await listen(loop, *certificate);
    if (!listening) co_return listening;
    log::info("webhook", "listening", {{"address", server_->address()}});
    tasks_ = std::make_unique<TaskGroup>(loop);
    if (settings_.self_signed)
      keep_certificate(loop, std::move(*certificate));
    else
      tasks_->spawn("certificate", watch_certificate(loop));
    watch_expiry(loop);
    co_return Outcome<void>();
  }

  Task<void> stop(std::string) override {
    if (tasks_) co_await tasks_->stop();
    if (expiry_) co_await expiry_->stop();
    if (events_) co_await events_->stop();
    if (rotation_) co_await rotation_->stop();
    if (pools_) co_await pools_->stop();
    if (server_) co_await server_->drain();
  }

  void reload() override {
    if (rotation_)
      rotation_->look();
    else
      reread_certificate();
    pools_->reread();
  }

 private:
  Task<Outcome<net::ServerTls>> first_certificate(Executor loop) {
    if (settings_.cluster) {
      auto client = kube::Client::create(loop, *settings_.cluster);
      if (!client) co_return tl::unexpected(config_failure(client.error()));
      client_ = std::move(*client);
    }
    if (!settings_.self_signed) {
      auto read = settings_.certificate.read();
      if (read) co_return std::move(*read);
      co_return tl::unexpected(webhook_failure(Plm::cannot_read, read.error().message));
    }
    auto state =
        co_await webhook::ensure_certificates(client_, *settings_.self_signed, system_clock());
    if (state) co_return std::move(state->serving);
    Failure failure = request_failure(state.error(), describe(*settings_.cluster));
    failure.exit = 1;
    co_return tl::unexpected(std::move(failure));
  }

  void keep_certificate(const Executor& loop, net::ServerTls serving) {
    auto change = [this](const net::ServerTls& certificate) {
      auto set = server_->set_certificate(certificate);
      if (set)
        log::info("webhook", "certificate renewed");
      else
        log::error("webhook", "the old certificate stays", {{"error", set.error()}});
    };
    rotation_ = std::make_unique<webhook::CertRotation>(loop, client_, *settings_.self_signed,
                                                        std::move(serving), replica_name(),
                                                        std::move(change), system_clock());
    rotation_->start();
  }

  void watch_expiry(const Executor& loop) {
    if (client_) {
      events_ = std::make_unique<kube::EventRecorder>(
          loop, client_, kube::EventSource{.component = "plimsoll-webhook"});
      events_->start();
    }
    auto tell = [this](WallTime at) {
      const std::string text = fmt::format(
          "the webhook's certificate expired at {}: API servers refuse it", format_rfc3339(at));
      log::error("webhook", text);
      if (!events_) return;
      events_->record({.about = {.api_version = "v1",
                                 .kind = "Service",
                                 .ns = settings_.ns,
                                 .name = settings_.service,
                                 .uid = {}},
                       .type = kube::EventNote::Type::warning,
                       .reason = "CertificateExpired",
                       .message = text});
    };
    expiry_ = std::make_unique<webhook::ExpiryWatch>(
        loop, [this] { return server_->expires(); }, std::move(tell), system_clock());
    expiry_->start();
  }

  Task<Outcome<void>> listen(Executor loop, net::ServerTls certificate) {
    pools_ = std::make_unique<WebhookPools>(loop, settings_.pools, client_);
    Result<void> read = co_await pools_->start();
    if (!read)
      co_return tl::unexpected(webhook_failure(Plm::bad_pool_config, read.error().message,
                                               "plimsoll pools validate tells all about it"));
    webhook::ServerSettings settings{.listen = settings_.listen,
                                     .certificate = std::move(certificate)};
    settings.mutators.push_back({"/mutating-pods", [this](const kube::AdmissionReview& review) {
                                   return pools::mutate_pod(review, pools_->catalog(),
                                                            settings_.mutate);
                                 }});
    settings.mutators.push_back({"/mutating-jobs",
                                 [this](const kube::AdmissionReview& review) {
                                   return servo::mutate_job(review, settings_.jobs,
                                                            settings_.monitor,
                                                            settings_.monitor_form);
                                 },
                                 webhook::OnFault::allow});
    auto server = webhook::AdmissionServer::listen(loop, std::move(settings),
                                                   metrics::default_registry(), system_clock());
    if (!server) co_return tl::unexpected(daemon_failure(Plm::bad_environment, server.error()));
    server_ = std::move(*server);
    co_return Outcome<void>();
  }

  void reread_certificate() {
    auto certificate = settings_.certificate.read();
    Result<void> set = certificate ? server_->set_certificate(*certificate) : certificate.error();
    if (set)
      log::info("webhook", "certificate reread");
    else
      log::error("webhook", "the old certificate stays", {{"error", set.error()}});
  }

  Task<void> watch_certificate(Executor loop) {
    auto watch = FileWatch::open(loop, settings_.certificate.paths());
    if (!watch) {
      log::error("webhook", "certificates are reread by SIGHUP only", {{"error", watch.error()}});
      co_return;
    }
    for (;;) {
      co_await (*watch)->next();
      reread_certificate();
    }
  }

  // Destroyed from below: what uses another stands behind it.
  WebhookSettings settings_;
  std::shared_ptr<kube::Client> client_;  // where there is a cluster
  std::unique_ptr<TaskGroup> tasks_;
  std::unique_ptr<WebhookPools> pools_;
  std::unique_ptr<webhook::AdmissionServer> server_;
  std::unique_ptr<webhook::CertRotation> rotation_;  // with self-signed certificates only
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<webhook::ExpiryWatch> expiry_;
};

}  // namespace

Outcome<int> run_webhook(Context& context) {
  configure_role_log(context.values);
  PLIM_CLI_TRY(WebhookSettings settings, webhook_settings(context));
  return run_role("webhook", std::make_unique<WebhookRole>(std::move(settings)));
}

}  // namespace plim::cli
