// TLS directly on the socket's descriptor; for .cpp files of this folder only.
#pragma once

#include <memory>
#include <string>

#include "net/byte_stream.hpp"
#include "net/tls_context.hpp"

struct ssl_st;

namespace plim::net {

// OpenSSL reads and writes the descriptor itself and we wait on the socket. So there is no second
// set of buffers as in Asio's own TLS stream, which keeps 34 KB per connection.
class TlsStream final : public ByteStream {
 public:
  TlsStream(Socket socket, std::shared_ptr<const TlsContext> context);
  ~TlsStream() override;

  // As client: verifies `host` against the certificate (unless the context disables that) and sends
  // it as SNI; server_name of the context replaces it if set.
  Task<Result<void>> connect(std::string host);
  Task<Result<void>> accept();
  bool agreed_on_http2() const;  // by ALPN, once the handshake is done

  Step try_read(std::span<char> into) override;
  Step try_write(std::string_view bytes) override;
  void send_end() override;
  void describe_peer(Peer& peer) const override;

 private:
  Step step(int result);
  Error last_error() const override;
  bool has_buffered() const override;
  Task<Result<void>> handshake();

  std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_;
  std::string failure_;
  int errno_ = 0;  // of the failure; 0 if the system reported none
};

}  // namespace plim::net
