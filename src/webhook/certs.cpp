#include "webhook/certs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "net/x509.hpp"

namespace plim::webhook {
namespace {

constexpr int kAttempts = 5;
constexpr std::size_t kMaxAuthorities = 4;
constexpr kube::CertificateLifetimes kLifetimes{.authority = std::chrono::hours(24 * 3650),
                                                .serving = std::chrono::hours(24 * 90)};

std::string pem_in(const json::value& secret, std::string_view key) {
  auto text = base64_decode(text_at(secret, {"data", key}));
  return text ? std::move(*text) : std::string();
}

// One certificate after another, as PEM texts that end with a newline.
std::vector<std::string> certificates_in(std::string_view bundle) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> out;
  for (;;) {
    const auto begin = bundle.find(kBegin);
    const auto end = begin == bundle.npos ? begin : bundle.find(kEnd, begin);
    if (end == bundle.npos) return out;
    out.push_back(std::string(bundle.substr(begin, end + kEnd.size() - begin)) + "\n");
    bundle.remove_prefix(end + kEnd.size());
  }
}

// One attempt of the whole procedure. Lives as long as the call.
class CertKeeper {
 public:
  CertKeeper(std::shared_ptr<kube::Client> client, CertSettings settings, Clock& clock)
      : client_(std::move(client)), settings_(std::move(settings)), clock_(&clock) {}

  Task<Result<CertState>> run() {
    PLIM_CO_CHECK(co_await load());
    if (!settings_.may_write) co_return found();
    if (!secret_.is_object()) PLIM_CO_CHECK(co_await make_secret());
    const std::string before = current_.authority.certificate_pem;
    PLIM_CO_CHECK(renew());
    if (out_.done == kube::Renewal::authority) previous_ = before;
    for (std::size_t i = 0; i < settings_.configurations.size(); ++i) {
      std::string name = settings_.configurations[i];
      PLIM_CO_CHECK(co_await tell(std::move(name)));
    }
    if (out_.done != kube::Renewal::none) {
      PLIM_CO_CHECK(co_await store());
    }
    co_return found();
  }

 private:
  Result<CertState> found() {
    if (current_.serving.certificate_pem.empty())
      return fail(Code::not_found, fmt::format("Secret {}/{} contains no certificate", settings_.ns,
                                               settings_.secret));
    out_.serving = {.certificate_pem = current_.serving.certificate_pem,
                    .key_pem = current_.serving.key_pem};
    return std::move(out_);
  }

  Task<Result<void>> load() {
    auto secret = co_await client_->get(kube::resources::secrets, where());
    if (!secret && secret.error().code == Code::not_found) co_return Result<void>();
    if (!secret)
      co_return secret.error().with_context(fmt::format("reading Secret {}", settings_.secret));
    secret_ = std::move(*secret);
    std::vector<std::string> authorities = certificates_in(pem_in(secret_, "ca.pem"));
    if (!authorities.empty()) {
      current_.authority = {authorities.front(), pem_in(secret_, "ca-key.pem")};
      authorities.erase(authorities.begin());
      previous_ = fmt::format("{}", fmt::join(authorities, ""));
    }
    current_.serving = {pem_in(secret_, "cert.pem"), pem_in(secret_, "key.pem")};
    had_certificate_ = !current_.serving.certificate_pem.empty();
    co_return Result<void>();
  }

  // As the manifests have it: without data. A webhook that may not create it fails here, before it
  // has told anyone about an authority that it cannot store.
  Task<Result<void>> make_secret() {
    kube::ObjectPath path{.ns = settings_.ns, .name = ""};
    json::value empty = json::object{
        {"apiVersion", "v1"},
        {"kind", "Secret"},
        {"type", "Opaque"},
        {"metadata", json::object{{"name", settings_.secret}, {"namespace", settings_.ns}}}};
    auto made = co_await client_->create(kube::resources::secrets, path, std::move(empty));
    if (!made && made.error().code == Code::already_exists) {
      Result<void> read = co_await load();  // another replica was faster
      co_return read;
    }
    if (!made)
      co_return made.error().with_context(fmt::format(
          "Secret {}/{} does not exist; create it with `plimsoll webhook certs` or from deploy/",
          settings_.ns, settings_.secret));
    secret_ = std::move(*made);
    co_return Result<void>();
  }

  Result<void> renew() {
    const WallTime now = clock_->wall();
    out_.done = kube::renewal_of(current_, settings_.service, settings_.ns, now);
    if (settings_.rotate == Rotate::serving && out_.done == kube::Renewal::none)
      out_.done = kube::Renewal::serving;
    if (settings_.rotate == Rotate::authority) out_.done = kube::Renewal::authority;
    if (out_.done == kube::Renewal::serving) {
      auto issued = kube::issue_service_certificate(current_.authority, settings_.service,
                                                    settings_.ns, now, kLifetimes.serving);
      if (issued) {
        current_.serving = std::move(*issued);
        return {};
      }
      out_.done = kube::Renewal::authority;  // its key is lost or belongs to someone else
    }
    if (out_.done == kube::Renewal::none) return {};
    PLIM_TRY(current_,
             kube::make_service_certificates(settings_.service, settings_.ns, now, kLifetimes));
    return {};
  }

  Task<Result<void>> tell(std::string name) {
    kube::ObjectPath path{.ns = "", .name = name};
    auto found = co_await client_->get(kube::resources::mutating_webhook_configurations, path);
    if (!found && found.error().code == Code::not_found) {
      Result<void> made = co_await make_configuration(std::move(name));
      co_return made;
    }
    if (!found)
      co_return found.error().with_context(
          fmt::format("reading MutatingWebhookConfiguration {}", name));
    if (!put_bundle(*found)) co_return Result<void>();
    auto updated = co_await client_->update(kube::resources::mutating_webhook_configurations, path,
                                            std::move(*found));
    if (!updated)
      co_return updated.error().with_context(
          fmt::format("writing MutatingWebhookConfiguration {}", name));
    out_.told.push_back(std::move(name));
    co_return Result<void>();
  }

  Task<Result<void>> make_configuration(std::string name) {
    const auto manifest = std::ranges::find_if(settings_.manifests, [&](const json::value& one) {
      return kube::text_at(one, "MutatingWebhookConfiguration.metadata.name") == name;
    });
    if (manifest == settings_.manifests.end()) {
      out_.missing.push_back(std::move(name));
      co_return Result<void>();
    }
    json::value object = *manifest;
    put_bundle(object);
    kube::ObjectPath path{.ns = "", .name = ""};
    auto made = co_await client_->create(kube::resources::mutating_webhook_configurations, path,
                                         std::move(object));
    if (!made)
      co_return made.error().with_context(
          fmt::format("making MutatingWebhookConfiguration {}", name));
    out_.told.push_back(std::move(name));
    co_return Result<void>();
  }

  // False if everything is there already. During a renewal everything trusted stays trusted;
  // otherwise the bundle is the one in the Secret, so that leftovers of a lost race are removed.
  bool put_bundle(json::value& configuration) {
    json::value* webhooks = configuration.get_object().if_contains("webhooks");
    if (!webhooks || !webhooks->is_array()) return false;
    bool changed = false;
    for (json::value& webhook : webhooks->get_array()) {
      const json::value* service = kube::find(webhook, "MutatingWebhook.clientConfig.service");
      const bool ours =
          !service || (kube::text_at(*service, "AdmissionregistrationServiceReference.name") ==
                           settings_.service &&
                       kube::text_at(*service, "AdmissionregistrationServiceReference.namespace") ==
                           settings_.ns);
      if (!ours) continue;
      const std::string_view before =
          kube::text_at(webhook, "MutatingWebhook.clientConfig.caBundle");
      const auto decoded = base64_decode(before);
      const std::string trusted = decoded ? *decoded : std::string();
      const bool resting = out_.done == kube::Renewal::none;
      // A certificate that others put into the Secret may come without its authority.
      if (out_.done == kube::Renewal::authority && had_certificate_ && previous_.empty())
        previous_ = trusted;
      const std::string bundle =
          merged_bundle({current_.authority.certificate_pem, previous_},
                        resting ? std::string_view() : trusted, clock_->wall());
      if (decoded && *decoded == bundle) continue;
      kube::make_object(webhook, "MutatingWebhook.clientConfig")["caBundle"] =
          base64_encode(bundle);
      changed = true;
    }
    return changed;
  }

  Task<Result<void>> store() {
    json::object& data = kube::make_object(secret_, "Secret.data");
    data["cert.pem"] = base64_encode(current_.serving.certificate_pem);
    data["key.pem"] = base64_encode(current_.serving.key_pem);
    data["ca.pem"] = base64_encode(
        merged_bundle({current_.authority.certificate_pem, previous_}, "", clock_->wall()));
    data["ca-key.pem"] = base64_encode(current_.authority.key_pem);
    // With the resourceVersion that was read, so a change in between is a conflict.
    auto stored = co_await client_->update(kube::resources::secrets, where(), secret_);
    if (!stored)
      co_return stored.error().with_context(fmt::format("writing Secret {}", settings_.secret));
    co_return Result<void>();
  }

  kube::ObjectPath where() const { return {.ns = settings_.ns, .name = settings_.secret}; }

  std::shared_ptr<kube::Client> client_;
  CertSettings settings_;
  Clock* clock_;
  json::value secret_;
  kube::ServiceCertificates current_;
  bool had_certificate_ = false;  // in the Secret, when it was read
  std::string previous_;          // authorities whose certificates may still be in use
  CertState out_;
};

bool is_race(const Error& error) {
  return error.code == Code::conflict || error.code == Code::already_exists;
}

}  // namespace

Task<Result<CertState>> ensure_certificates(std::shared_ptr<kube::Client> client,
                                            CertSettings settings, Clock& clock) {
  for (int attempt = 1;; ++attempt) {
    CertKeeper keeper(client, settings, clock);
    Result<CertState> done = co_await keeper.run();
    if (done || !is_race(done.error()) || attempt == kAttempts) co_return done;
  }
}

std::string merged_bundle(const std::vector<std::string>& authorities, std::string_view bundle,
                          WallTime now) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& pem) {
    const auto info = net::read_certificate(pem);
    if (!info || info->not_after <= now || std::ranges::find(all, pem) != all.end()) return;
    if (all.size() < kMaxAuthorities) all.push_back(pem);
  };
  for (const std::string& authority : authorities)
    for (const std::string& pem : certificates_in(authority)) add(pem);
  for (const std::string& pem : certificates_in(bundle)) add(pem);
  return fmt::format("{}", fmt::join(all, ""));
}

}  // namespace plim::webhook
