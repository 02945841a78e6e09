// The files of the server's certificate and key, as a Secret is mounted.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/tls.hpp"

namespace plim::webhook {

struct CertificateFiles {
  std::string certificate, key;

  // Reads the named files. If they are missing, reads tls.crt and tls.key or cert.pem and key.pem
  // in the same directory, so that a manifest works with Secrets of different origin.
  Result<net::ServerTls> read() const;
  // All paths whose change may change the result of read().
  std::vector<std::string> paths() const;
};

}  // namespace plim::webhook
