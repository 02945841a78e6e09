#include "webhook/cert_rotation.hpp"

#include <chrono>

#include "base/log.hpp"

namespace plim::webhook {
namespace {

constexpr std::chrono::seconds kLook{60};
// Until the configuration exists: it may be applied after the webhook.
constexpr std::chrono::seconds kLookSoon{2};

kube::ElectionOptions election_of(const CertSettings& settings, std::string identity) {
  return {.ns = settings.ns, .name = settings.lease, .identity = std::move(identity)};
}

}  // namespace

CertRotation::CertRotation(const Executor& loop, std::shared_ptr<kube::Client> client,
                           CertSettings settings, net::ServerTls serving, std::string identity,
                           OnChange on_change, Clock& clock)
    : client_(std::move(client)),
      settings_(std::move(settings)),
      serving_(std::move(serving)),
      on_change_(std::move(on_change)),
      clock_(clock),
      elector_(loop, client_, election_of(settings_, std::move(identity)),
               {.on_started = [this] { look(); }}, clock),
      look_(loop),
      tasks_(loop) {}

void CertRotation::start() {
  elector_.start();
  tasks_.spawn("certificates", keep());
}

Task<void> CertRotation::stop() {
  co_await tasks_.stop();
  co_await elector_.stop();
}

void CertRotation::look() {
  asked_ = true;
  look_.notify();
}

Task<void> CertRotation::keep() {
  log::Throttle complaints;
  std::chrono::seconds wait = kLookSoon;
  for (;;) {
    if (!asked_) (void)co_await look_.wait_until(clock_, clock_.steady() + wait);
    asked_ = false;
    CertSettings settings = settings_;
    settings.may_write = elector_.is_leader();
    auto state = co_await ensure_certificates(client_, std::move(settings), clock_);
    if (!state) {
      complaints.write(log::Level::error, "webhook", "cannot check or renew the certificates",
                       {{"error", state.error()}});
      wait = kLookSoon;
      continue;
    }
    for (const std::string& name : state->told)
      log::info("webhook", "wrote the authority to the webhook configuration",
                {{"configuration", name}});
    // There must be a leader before any replica may wait longer.
    const bool settled = state->missing.empty() && !elector_.leader().empty();
    wait = settled ? kLook : kLookSoon;
    if (state->serving.certificate_pem == serving_.certificate_pem) continue;
    serving_ = state->serving;
    on_change_(serving_);
  }
}

}  // namespace plim::webhook
