#include "kube/certificates.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::kube {
namespace {

// Backdate certificates: clocks of nodes differ, and a certificate from the future is rejected.
constexpr auto kClockSkew = std::chrono::minutes(5);

bool is_worn_out(const net::CertificateInfo& info, WallTime now) {
  const auto lifetime = info.not_after - info.not_before;
  return now < info.not_before || info.not_after - now < lifetime / 3;
}

}  // namespace

std::vector<std::string> service_dns_names(std::string_view service, std::string_view ns,
                                           std::string_view cluster_domain) {
  return {std::string(service), fmt::format("{}.{}", service, ns),
          fmt::format("{}.{}.svc", service, ns),
          fmt::format("{}.{}.svc.{}", service, ns, cluster_domain)};
}

Result<net::KeyPair> issue_service_certificate(const net::KeyPair& authority,
                                               std::string_view service, std::string_view ns,
                                               WallTime now, std::chrono::hours lifetime) {
  net::CertificateRequest request{.common_name = fmt::format("{}.{}.svc", service, ns),
                                  .dns_names = service_dns_names(service, ns),
                                  .server = true,
                                  .not_before = now - kClockSkew,
                                  .not_after = now + lifetime};
  return net::issue_certificate(authority, request);
}

Result<ServiceCertificates> make_service_certificates(std::string_view service, std::string_view ns,
                                                      WallTime now,
                                                      CertificateLifetimes lifetimes) {
  ServiceCertificates out;
  PLIM_TRY(out.authority, net::make_authority(fmt::format("{}.{} authority", service, ns),
                                              now - kClockSkew, now + lifetimes.authority));
  PLIM_TRY(out.serving,
           issue_service_certificate(out.authority, service, ns, now, lifetimes.serving));
  return out;
}

Renewal renewal_of(const ServiceCertificates& current, std::string_view service,
                   std::string_view ns, WallTime now) {
  const auto authority = net::read_certificate(current.authority.certificate_pem);
  if (!authority || is_worn_out(*authority, now)) return Renewal::authority;
  const auto serving = net::read_certificate(current.serving.certificate_pem);
  if (!serving || is_worn_out(*serving, now)) return Renewal::serving;
  for (const std::string& name : service_dns_names(service, ns))
    if (std::ranges::find(serving->dns_names, name) == serving->dns_names.end())
      return Renewal::serving;
  const auto belongs =
      net::verify_certificate(current.serving.certificate_pem, current.serving.key_pem,
                              current.authority.certificate_pem, now);
  return belongs ? Renewal::none : Renewal::serving;
}

}  // namespace plim::kube
