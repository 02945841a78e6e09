// Creates and reads certificates, for the webhook, the local cluster and tests. ECDSA P-256, PEM
// text.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace plim::net {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  bool server = false;  // extended key usages
  bool client = false;
  WallTime not_before = {};
  WallTime not_after = {};
};

Result<KeyPair> make_authority(std::string_view common_name, WallTime not_before,
                               WallTime not_after);
Result<KeyPair> issue_certificate(const KeyPair& authority, const CertificateRequest& request);

struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> organizations, dns_names, ip_addresses;
  WallTime not_before, not_after;
  bool is_authority = false;
};

// The first certificate of the text.
Result<CertificateInfo> read_certificate(std::string_view pem);
// Checks that the key belongs to the certificate and that an authority of `ca_pem` signed it.
Result<void> verify_certificate(std::string_view certificate_pem, std::string_view key_pem,
                                std::string_view ca_pem, WallTime now);

// Keys that sign tokens of service accounts. Signatures have the format of JSON Web Signatures:
// ES256 for P-256 keys, RS256 for RSA keys.
Result<std::string> make_signing_key();
Result<std::string> sign_sha256(std::string_view key_pem, std::string_view data);
Result<bool> verify_sha256(std::string_view public_or_private_key_pem, std::string_view data,
                           std::string_view signature);

std::string sha256_hex(std::string_view data);

}  // namespace plim::net
