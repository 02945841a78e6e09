#include "roles/webhook_role.hpp"

#include <chrono>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/rfc3339.hpp"
#include "kube/event_recorder.hpp"
#include "roles/role_run.hpp"
#include "roles/server_version.hpp"
#include "webhook/cert_rotation.hpp"
#include "webhook/expiry_watch.hpp"
#include "webhook/server.hpp"

namespace plim::roles {
namespace {

constexpr std::chrono::seconds kVersionLimit{5};
constexpr int kSidecarMinor = 29;  // init containers can be sidecars since 1.29

// Unique among the replicas of a Deployment, and among processes of one machine.
std::string replica_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("{}_{}", host, ::getpid());
}

// Belongs to one loop.
class WebhookRole final : public Role {
 public:
  explicit WebhookRole(WebhookSettings settings) : settings_(std::move(settings)) {}

  Task<Outcome<void>> start(Executor loop) override {
    Outcome<net::ServerTls> certificate = co_await first_certificate(loop);
    if (!certificate) co_return tl::unexpected(std::move(certificate.error()));
    co_await choose_monitor_form();
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
      co_return tl::unexpected(
          Failure{.code = Plm::cannot_read, .exit = 1, .what = read.error().message});
    }
    auto state =
        co_await webhook::ensure_certificates(client_, *settings_.self_signed, system_clock());
    if (state) co_return std::move(state->serving);
    Failure failure = request_failure(state.error(), describe(*settings_.cluster));
    failure.exit = 1;
    co_return tl::unexpected(std::move(failure));
  }

  // Asks the API server for its version. If it does not answer, assumes a recent one.
  Task<void> choose_monitor_form() {
    if (settings_.monitor.image.empty()) co_return;
    if (settings_.monitor.target.empty())
      log::warn("webhook", "SELF_IP is missing: the webhook adds monitors, but they cannot report");
    if (!client_) co_return;
    const auto version = co_await server_version(client_, kVersionLimit);
    if (!version || version->major != 1 || version->minor >= kSidecarMinor) co_return;
    log::warn("webhook", "this cluster has no sidecars: jobs with a monitor do not complete",
              {{"server", version->text}});
    monitor_form_ = servo::MonitorForm::appended;
  }

  void keep_certificate(const Executor& loop, net::ServerTls serving) {
    auto change = [this](const net::ServerTls& certificate) {
      auto set = server_->set_certificate(certificate);
      if (set)
        log::info("webhook", "certificate renewed");
      else
        log::error("webhook", "cannot load the new certificate; the old one stays",
                   {{"error", set.error()}});
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
          "the webhook's certificate expired at {}: API servers reject it", format_rfc3339(at));
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
      co_return tl::unexpected(Failure{.code = Plm::bad_pool_config,
                                       .exit = 1,
                                       .what = read.error().message,
                                       .next = "plimsoll pools validate shows all mistakes"});
    webhook::ServerSettings settings{.listen = settings_.listen,
                                     .certificate = std::move(certificate)};
    settings.mutators.push_back({"/mutating-pods", [this](const kube::AdmissionReview& review) {
                                   return pools::mutate_pod(review, pools_->catalog(),
                                                            settings_.mutate);
                                 }});
    settings.mutators.push_back({"/mutating-jobs",
                                 [this](const kube::AdmissionReview& review) {
                                   return servo::mutate_job(review, settings_.jobs,
                                                            settings_.monitor, monitor_form_);
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
      log::error("webhook", "cannot load the new certificate; the old one stays",
                 {{"error", set.error()}});
  }

  Task<void> watch_certificate(Executor loop) {
    auto watch = FileWatch::open(loop, settings_.certificate.paths());
    if (!watch) {
      log::error("webhook", "cannot watch the certificates; send SIGHUP to reread them",
                 {{"error", watch.error()}});
      co_return;
    }
    for (;;) {
      co_await (*watch)->next();
      reread_certificate();
    }
  }

  // Members are destroyed in reverse order, so a member comes after those it uses.
  WebhookSettings settings_;
  servo::MonitorForm monitor_form_ = servo::MonitorForm::sidecar;
  std::shared_ptr<kube::Client> client_;  // null without a cluster
  std::unique_ptr<TaskGroup> tasks_;
  std::unique_ptr<WebhookPools> pools_;
  std::unique_ptr<webhook::AdmissionServer> server_;
  std::unique_ptr<webhook::CertRotation> rotation_;  // only with self-signed certificates
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<webhook::ExpiryWatch> expiry_;
};

}  // namespace

Outcome<int> run_webhook(WebhookSettings settings) {
  return run_role("webhook", std::make_unique<WebhookRole>(std::move(settings)));
}

}  // namespace plim::roles
