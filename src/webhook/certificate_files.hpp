// The files that hold the server's certificate and key, as a Secret is mounted.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/tls.hpp"

namespace plim::webhook {

struct CertificateFiles {
  std::string certificate, key;

  // The named files; where they are missing, tls.crt and tls.key or cert.pem and key.pem beside
  // them, so that a manifest need not know who has made the Secret.
  Result<net::ServerTls> read() const;
  // All paths whose change may change what read() gives.
  std::vector<std::string> paths() const;
};

}  // namespace plim::webhook
