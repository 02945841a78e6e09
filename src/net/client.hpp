// HTTP/1.1 client for one origin, with a keep-alive pool. Belongs to one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/http.hpp"
#include "net/raw_stream.hpp"
#include "net/tls.hpp"

namespace plim::net {

using Millis = std::chrono::milliseconds;

// Whether NO_PROXY excludes a host, with the rules of Go: hosts, domains (".x" or "x" match
// subdomains), CIDRs, ports, "*".
bool no_proxy_matches(std::string_view no_proxy, std::string_view host, std::uint16_t port);
// The proxy for this URL from HTTPS_PROXY, HTTP_PROXY and NO_PROXY (in either case); "" for none,
// and always for localhost and loopback addresses.
std::string proxy_from_environment(std::string_view url);

struct ClientOptions {
  ClientTls tls = {};
  std::string proxy = {};  // http://user:password@host:port; CONNECT for https origins
  std::string user_agent = "plimsoll";
  Millis connect_timeout{10'000};  // total of lookup, connect, proxy and TLS handshake
  Millis idle_timeout{90'000};     // closes pooled connections after this time
  std::size_t max_idle = 8;
  std::size_t max_header = 64 << 10;
};

struct CallOptions {
  Millis timeout{30'000};  // until the response is complete; for open(): until its headers
  Millis read_timeout{0};  // longest silence inside a body, for streams; 0: none
  std::size_t max_body =
      256u << 20;  // larger responses fail with Code::too_large; streams are not limited
};

// A response whose body is read in pieces, for example a watch. Destroying it closes the connection
// unless the body was read to its end.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next bytes as they arrive (decompressed); nullopt at the regular end of the body.
  // Code::unavailable if the connection is lost, Code::timeout after a silence of read_timeout.
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

// A request whose body is sent in pieces (chunked).
class RequestBody {
 public:
  virtual ~RequestBody() = default;
  virtual Task<Result<void>> write(std::string piece) = 0;  // waits if the peer is slow
  virtual Task<Result<Response>> finish() = 0;              // ends the body, returns the response
};

class Client {
 public:
  // base: "https://host:port/prefix", "http://…", or "unix:///path/to/socket". The prefix is
  // before paths. All limits of time are of `clock`, which outlives the client.
  static Result<std::shared_ptr<Client>> create(Executor loop, std::string base,
                                                ClientOptions options = {},
                                                Clock& clock = system_clock());
  virtual ~Client() = default;

  // Sends the request and reads the response. Every HTTP status is a success; errors are those of
  // the transport. Retries once on a new connection if a pooled one was closed before any byte of
  // the response and a retry is safe: the method is GET, HEAD or OPTIONS, or nothing was written.
  // Does not follow redirects. Decompresses bodies unless the request has an Accept-Encoding
  // header.
  virtual Task<Result<Response>> send(Request request, CallOptions options = {}) = 0;
  // Sends all requests at once on one connection (HTTP pipelining), then reads the responses, which
  // have the same order. That takes few system calls, but the server answers one after another. If
  // the connection is lost, the rest fails with Code::unavailable, and the server may have acted on
  // it: for small requests that are safe to repeat. The limits are those of send(); `timeout` is
  // for all requests together.
  virtual Task<std::vector<Result<Response>>> send_pipelined(std::vector<Request> requests,
                                                             CallOptions options = {}) = 0;
  virtual Task<Result<std::unique_ptr<ResponseStream>>> open(Request request,
                                                             CallOptions options = {}) = 0;
  virtual Task<Result<std::unique_ptr<RequestBody>>> upload(Request request,
                                                            CallOptions options = {}) = 0;
  // Sends the request with its Upgrade headers; fails with code and message of any response but
  // 101.
  virtual Task<Result<std::unique_ptr<RawStream>>> upgrade(Request request,
                                                           CallOptions options = {}) = 0;

  // Used for new connections from now on; for rotated client certificates.
  virtual Result<void> set_tls(ClientTls tls) = 0;
  virtual void close_idle() = 0;
  virtual const std::string& base() const = 0;
};

}  // namespace plim::net
