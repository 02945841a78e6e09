#include <chrono>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "base/process.hpp"
#include "base/resident.hpp"
#include "base/rfc3339.hpp"
#include "base/signals.hpp"
#include "base/text.hpp"
#include "cli/cluster.hpp"
#include "cli/commands.hpp"
#include "cli/run.hpp"
#include "cli/servo_settings.hpp"
#include "cli/webhook_certs.hpp"
#include "cli/webhook_pools.hpp"
#include "kube/event_recorder.hpp"
#include "pools/mutate.hpp"
#include "servo/mutate.hpp"
#include "webhook/cert_rotation.hpp"
#include "webhook/certificate_files.hpp"
#include "webhook/expiry_watch.hpp"
#include "webhook/server.hpp"

namespace plim::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kWebhookInternalExit = 3;
constexpr std::chrono::seconds kVersionLimit{5};
constexpr std::array kUsualPoolPlaces{"/etc/cpu-pooler", "/etc/cpu-dp"};
constexpr std::string_view kPoolMap = "configmap:";  // else a file or a directory

struct WebhookSettings {
  webhook::CertificateFiles certificate;
  std::optional<webhook::CertSettings> self_signed = {};  // instead of the files
  std::string ns = {}, service = {};                      // by which it is called
  std::optional<kube::Config> cluster = {};               // for certificates, ConfigMaps, events
  std::string listen;
  WebhookPoolPlaces pools;
  pools::MutateOptions mutate;
  servo::JobRules jobs;
  servo::Monitor monitor;
  servo::MonitorForm monitor_form = servo::MonitorForm::sidecar;
};

Failure webhook_failure(Plm code, std::string what, std::string next = {}) {
  return Failure{.code = code, .exit = 1, .what = std::move(what), .next = std::move(next)};
}

// Unique among the replicas of a Deployment, and among processes of one machine.
std::string replica_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("{}_{}", host, ::getpid());
}

template <class T, std::size_t N>
T choice_of(const std::string& text, const std::array<std::pair<std::string_view, T>, N>& rows) {
  for (const auto& [name, value] : rows)
    if (name == text) return value;
  return rows[0].second;  // the table of commands lets nothing else through
}

pools::MutateOptions mutate_options(const Values& values) {
  using pools::CfsQuotas, pools::StarterDelivery, pools::UnknownPool;
  constexpr std::array<std::pair<std::string_view, CfsQuotas>, 3> kQuotas{
      {{"all", CfsQuotas::all}, {"shared", CfsQuotas::shared}, {"none", CfsQuotas::none}}};
  constexpr std::array<std::pair<std::string_view, StarterDelivery>, 2> kDeliveries{
      {{"hostpath", StarterDelivery::hostpath}, {"plugin", StarterDelivery::plugin}}};
  constexpr std::array<std::pair<std::string_view, UnknownPool>, 3> kUnknown{
      {{"warn", UnknownPool::warn},
       {"reject", UnknownPool::reject},
       {"allow", UnknownPool::allow}}};
  return {.starter_path = values.text("process-starter-path"),
          .cfs_quotas = choice_of(values.text("cfs-quotas"), kQuotas),
          .smt_width = static_cast<int>(values.integer("smt-width")),
          .delivery = choice_of(values.text("starter-delivery"), kDeliveries),
          .unknown_pool = choice_of(values.text("unknown-pool"), kUnknown)};
}

Outcome<WebhookPoolPlaces> pool_places(const Values& values) {
  WebhookPoolPlaces out;
  for (std::string_view part : split(values.text("poolconfigs"), ',')) {
    const std::string_view place = trim(part);
    if (place.empty()) continue;
    if (!place.starts_with(kPoolMap)) {
      out.files.emplace_back(place);
      continue;
    }
    out.maps.emplace_back(place.substr(kPoolMap.size()));
    if (cut(out.maps.back(), '/').second.empty())
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--poolconfigs: {} has no namespace", place),
                           "configmap:kube-system/cpu-dp-configmap");
  }
  if (!out.files.empty() || !out.maps.empty()) return out;
  std::error_code ignored;
  for (const char* place : kUsualPoolPlaces)
    if (fs::is_directory(place, ignored)) out.files.emplace_back(place);
  return out;
}

Outcome<void> read_servo_part(const Context& context, WebhookSettings& out) {
  const servo::GetSetting get = servo_setting(context);
  auto jobs = servo::read_job_rules(get);
  if (!jobs) return tl::unexpected(webhook_failure(Plm::bad_environment, jobs.error().message));
  auto monitor = servo::read_monitor(get);
  if (!monitor)
    return tl::unexpected(webhook_failure(Plm::bad_environment, monitor.error().message));
  out.jobs = std::move(*jobs);
  out.monitor = std::move(*monitor);
  return {};
}

// Only an API server can tell; one that does not is taken for a new one.
servo::MonitorForm monitor_form(const WebhookSettings& settings) {
  if (settings.monitor.image.empty() || !settings.cluster) return servo::MonitorForm::sidecar;
  const auto version = server_version(*settings.cluster, kVersionLimit);
  if (!version || version->major != 1 || version->minor >= kOldestMinor)
    return servo::MonitorForm::sidecar;
  log::warn("webhook", "no sidecars on this cluster: jobs with a monitor do not end by themselves",
            {{"server", version->text}});
  return servo::MonitorForm::appended;
}

Outcome<WebhookSettings> webhook_settings(const Context& context) {
  const Values& values = context.values;
  WebhookSettings out{
      .certificate = {values.text("tls-cert-file"), values.text("tls-private-key-file")},
      .ns = cert_settings(context).ns,
      .service = values.text("service"),
      .listen = values.text("listen"),
      .pools = {},
      .mutate = mutate_options(values),
      .jobs = {},
      .monitor = {}};
  if (values.boolean("self-signed")) {
    out.self_signed = cert_settings(context);
    out.self_signed->lease = values.text("lease");
  } else if (out.certificate.certificate.empty() || out.certificate.key.empty()) {
    return usage_failure(Plm::wrong_arguments,
                         "webhook needs --tls-cert-file and --tls-private-key-file",
                         "or --self-signed; API servers call webhooks by HTTPS only");
  }
  if (out.mutate.smt_width < 1 || out.mutate.smt_width > 8)
    return usage_failure(Plm::bad_flag_value, "--smt-width is a number from 1 to 8");
  if (!out.mutate.starter_path.starts_with('/'))
    return usage_failure(Plm::bad_flag_value, "--process-starter-path begins with /");
  PLIM_CLI_TRY(out.pools, pool_places(values));
  PLIM_CLI_CHECK(read_servo_part(context, out));
  if (out.self_signed || !out.pools.maps.empty() || values.given("kubeconfig")) {
    PLIM_CLI_TRY(out.cluster, cluster_config(context));
  } else if (context.world.env("KUBERNETES_SERVICE_HOST")) {
    // Somebody to tell events to. A pod without a token serves all the same.
    if (auto config = cluster_config(context)) out.cluster = std::move(*config);
  }
  return out;
}

// The webhook from start to stop. Lives on one loop.
class WebhookRun {
 public:
  explicit WebhookRun(WebhookSettings settings) : settings_(std::move(settings)) {}

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    expiry_.reset();
    events_.reset();
    rotation_.reset();
    server_.reset();
    pools_.reset();
    tasks_.reset();
    client_.reset();
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals::Options reload{.reload = true};
    signals_ = std::make_unique<Signals>(loop, reload);
    Outcome<net::ServerTls> certificate = co_await first_certificate(loop);
    Outcome<void> started;
    if (certificate)
      started = co_await start(loop, *certificate);
    else
      started = tl::unexpected(std::move(certificate.error()));
    if (!started) {
      failure_ = std::move(started.error());
      if (pools_) co_await pools_->stop();
      signals_.reset();
      co_return 0;
    }
    MemoryTidy tidy(loop);
    tidy.start();
    log::info("webhook", "listening", {{"address", server_->address()}});
    tasks_ = std::make_unique<TaskGroup>(loop);
    if (settings_.self_signed)
      keep_certificate(loop, std::move(*certificate));
    else
      tasks_->spawn("certificate", watch_certificate(loop));
    tasks_->spawn("reload", reload_by_signal());
    watch_expiry(loop);
    co_await signals_->stop_requested();
    log::info("webhook", "stopping", {{"signal", signals_->stop_signal()}});
    co_await tidy.stop();
    co_await tasks_->stop();
    co_await expiry_->stop();
    if (events_) co_await events_->stop();
    if (rotation_) co_await rotation_->stop();
    co_await pools_->stop();
    co_await server_->drain();
    signals_.reset();
    co_return 0;
  }

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
                                                        std::move(change));
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
        loop, [this] { return server_->expires(); }, std::move(tell));
    expiry_->start();
  }

  Task<Outcome<void>> start(Executor loop, net::ServerTls certificate) {
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
    auto server =
        webhook::AdmissionServer::listen(loop, std::move(settings), metrics::default_registry());
    if (!server)
      co_return tl::unexpected(webhook_failure(Plm::bad_environment, server.error().message));
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

  Task<void> reload_by_signal() {
    for (;;) {
      co_await signals_->reload_requested();
      if (rotation_)
        rotation_->look();
      else
        reread_certificate();
      pools_->reread();
    }
  }

  WebhookSettings settings_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<webhook::AdmissionServer> server_;
  std::shared_ptr<kube::Client> client_;  // where there is a cluster
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<webhook::ExpiryWatch> expiry_;
  std::unique_ptr<WebhookPools> pools_;
  std::unique_ptr<webhook::CertRotation> rotation_;  // with self-signed certificates only
  std::unique_ptr<TaskGroup> tasks_;
  std::optional<Failure> failure_;
};

}  // namespace

Outcome<int> run_webhook(Context& context) {
  PLIM_CLI_TRY(WebhookSettings settings, webhook_settings(context));
  if (context.values.text("log-level").empty())
    log::configure({.level = log::Level::info,
                    .format = context.values.text("log-format") == "json" ? log::Format::json
                                                                          : log::Format::text});
  if (!settings.monitor.image.empty() && settings.monitor.target.empty())
    log::warn("webhook", "SELF_IP is missing: monitors are added, but report to nobody");
  settings.monitor_form = monitor_form(settings);
  keep_memory_small();
  try {
    return WebhookRun(std::move(settings)).run();
  } catch (const std::exception& e) {
    return tl::unexpected(
        Failure{.code = Plm::internal, .exit = kWebhookInternalExit, .what = e.what()});
  }
}

}  // namespace plim::cli
