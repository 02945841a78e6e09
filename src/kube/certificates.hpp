// Certificates for something of ours that the API server calls through a Service: the webhook.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "net/x509.hpp"

namespace plim::kube {

// Every name a Service answers to inside a cluster, the shortest first.
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

// A new serving certificate by the authority that clients already trust.
Result<net::KeyPair> issue_service_certificate(
    const net::KeyPair& authority, std::string_view service, std::string_view ns, WallTime now,
    std::chrono::hours lifetime = {std::chrono::hours(24 * 365)});

enum class Renewal {
  none,       // good for now
  serving,    // issue a new serving certificate by the same authority
  authority,  // that too must be new
};

// Renews when less than a third of a lifetime is left, when a name is missing, when the pieces do
// not belong together or cannot be read.
Renewal renewal_of(const ServiceCertificates& current, std::string_view service,
                   std::string_view ns, WallTime now);

}  // namespace plim::kube
