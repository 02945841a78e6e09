// Certificates and settings shared by many TLS connections; for .cpp files of this folder only.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/tls.hpp"

struct ssl_ctx_st;

namespace plim::net {

// Immutable, so any thread may start connections with it.
class TlsContext {
 public:
  static Result<std::shared_ptr<const TlsContext>> for_client(const ClientTls& tls);
  enum class Offer { http1, http2_too };  // for ALPN
  static Result<std::shared_ptr<const TlsContext>> for_server(const ServerTls& tls,
                                                              Offer offer = Offer::http1);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }

  bool verifies_peer() const { return verifies_peer_; }

  const std::string& server_name() const { return server_name_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* context_;
  bool verifies_peer_ = false;
  std::string server_name_;  // a client's override
};

}  // namespace plim::net
