// HTTP/1.1 client for one origin, with a keep-alive pool. Belongs to one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/http.hpp"
#include "net/raw_stream.hpp"
#include "net/tls.hpp"

namespace plim::net {

using Millis = std::chrono::milliseconds;

// How to leave out the proxy, as Go does: hosts, domains (".x" or "x" match sub-domains), CIDRs,
// ports, "*".
bool no_proxy_matches(std::string_view no_proxy, std::string_view host, std::uint16_t port);
// HTTPS_PROXY, HTTP_PROXY, NO_PROXY (either case) for this URL; "" for none, always so for
// localhost and loopback addresses.
std::string proxy_from_environment(std::string_view url);

struct ClientOptions {
  ClientTls tls = {};
  std::string proxy = {};  // http://user:password@host:port; CONNECT for https origins
  std::string user_agent = "plimsoll";
  Millis connect_timeout{10'000};  // resolve, connect, proxy and TLS handshake together
  Millis idle_timeout{90'000};     // a pooled connection unused this long is closed
  std::size_t max_idle = 8;
  std::size_t max_header = 64 << 10;
};

struct CallOptions {
  Millis timeout{30'000};  // until the whole answer is there; for open(): until its headers are
  Millis read_timeout{0};  // longest silence inside a body, 0: none; for streams
  std::size_t max_body =
      256u << 20;  // larger answers fail with Code::too_large; no limit on streams
};

// An answer whose body is read piece by piece, for example a watch. Destroying it closes the
// connection unless the body was read to its end.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next bytes as they arrive (already un-gzipped); nullopt at the regular end of the body. A
  // connection that breaks off is Code::unavailable, silence beyond read_timeout Code::timeout.
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

// A request whose body is sent while it is made (chunked).
class RequestBody {
 public:
  virtual ~RequestBody() = default;
  virtual Task<Result<void>> write(std::string piece) = 0;  // waits while the peer is slow
  virtual Task<Result<Response>> finish() = 0;              // ends the body, then the answer
};

class Client {
 public:
  // base: "https://host:port/prefix", "http://…", or "unix:///path/to/socket"; the prefix is put
  // before paths. All limits of time are of `clock`, which outlives the client.
  static Result<std::shared_ptr<Client>> create(Executor loop, std::string base,
                                                ClientOptions options = {},
                                                Clock& clock = system_clock());
  virtual ~Client() = default;

  // The whole exchange. Any HTTP status is a success here; failures are of the transport.
  // Retried once on a fresh connection when a pooled one turned out closed before any answer byte,
  // provided that is safe: the method is GET, HEAD or OPTIONS, or nothing could be written.
  // Redirects are answers like any other. Bodies come un-gzipped unless the request has its own
  // Accept-Encoding.
  virtual Task<Result<Response>> send(Request request, CallOptions options = {}) = 0;
  virtual Task<Result<std::unique_ptr<ResponseStream>>> open(Request request,
                                                             CallOptions options = {}) = 0;
  virtual Task<Result<std::unique_ptr<RequestBody>>> upload(Request request,
                                                            CallOptions options = {}) = 0;
  // Sends the request with its Upgrade headers; Code and message of the answer if it is not 101.
  virtual Task<Result<std::unique_ptr<RawStream>>> upgrade(Request request,
                                                           CallOptions options = {}) = 0;

  // New connections use these from now on; for rotated client certificates.
  virtual Result<void> set_tls(ClientTls tls) = 0;
  virtual void close_idle() = 0;
  virtual const std::string& base() const = 0;
};

}  // namespace plim::net
