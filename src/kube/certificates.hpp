// Certificates for the webhook, which the API server calls through a Service.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "net/x509.hpp"

namespace plim::kube {

// Every DNS name of a Service inside a cluster, the shortest first.
std::vector<std::string> service_dns_names(std::string_view service, std::string_view ns,
                                           std::string_view cluster_domain = "cluster.local");

struct ServiceCertificates {
  net::KeyPair authority;  // its certificate is the caBundle
  net::KeyPair serving;
};

struct CertificateLifetimes {
  std::chrono::hours authority = std::chrono::hours(24 * 3650);
  std::chrono::hours serving = std::chrono::hours(24 * 365);
};

// A new authority and a serving certificate for the Service, signed by it.
Result<ServiceCertificates> make_service_certificates(std::string_view service, std::string_view ns,
                                                      WallTime now,
                                                      CertificateLifetimes lifetimes = {});

// A new serving certificate, signed by the authority that clients already trust.
Result<net::KeyPair> issue_service_certificate(
    const net::KeyPair& authority, std::string_view service, std::string_view ns, WallTime now,
    std::chrono::hours lifetime = {std::chrono::hours(24 * 365)});

enum class Renewal {
  none,       // both are still good
  serving,    // a new serving certificate, same authority
  authority,  // a new authority and a new serving certificate
};

// Renews when less than a third of the lifetime is left, when a name is missing, or when the
// certificate and the key do not match or cannot be read.
Renewal renewal_of(const ServiceCertificates& current, std::string_view service,
                   std::string_view ns, WallTime now);

}  // namespace plim::kube
