// TLS settings, as PEM text. Does not expose OpenSSL.
#pragma once

#include <string>

namespace plim::net {

struct ClientTls {
  std::string ca_pem = {};           // empty: the system's authorities
  std::string certificate_pem = {};  // client certificate with its chain, may be empty
  std::string key_pem = {};
  std::string server_name = {};  // overrides the name that is verified and sent (SNI)
  bool insecure = false;         // skip verification; the caller has warned
};

struct ServerTls {
  std::string certificate_pem = {};
  std::string key_pem = {};
  std::string client_ca_pem = {};  // not empty: requests and verifies client certificates
  bool require_client_certificate = false;
};

}  // namespace plim::net
