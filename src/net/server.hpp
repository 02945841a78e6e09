// HTTP/1.1 server, with optional HTTP/2. Connections are spread over the given loops; a handler
// runs on the loop of its connection.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/http.hpp"
#include "net/raw_stream.hpp"
#include "net/tls.hpp"

namespace plim::net {

using Millis = std::chrono::milliseconds;

using Piece = std::shared_ptr<const std::string>;  // a piece of a body, shared by all watchers

// One open chunked response with a bounded queue. Callable from any thread.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual bool push(
      Piece piece) = 0;  // false: the queue overflowed or the peer is gone; the response ends
  virtual std::size_t queued() = 0;  // unsent pieces; a producer can wait while there are many
  virtual void finish() = 0;         // ends regularly after the queue
  virtual void abort() = 0;          // ends at once, for a peer that does not read
  virtual void on_gone(
      std::function<void()> callback) = 0;  // called once, on the connection's loop, at the end
};

struct Streamed {
  int status = 200;
  Headers headers = {};
  std::function<void(std::shared_ptr<Sink>)> attach;  // called once the headers are sent
  std::size_t max_queued = 1024;                      // pieces
};

// Takes over the connection after a 101 response with these headers.
struct Upgraded {
  Headers headers = {};
  std::function<Task<void>(std::unique_ptr<RawStream>)> run;
};

using Reply = std::variant<Response, Streamed, Upgraded>;

// The body of a request as it arrives, for routes with stream_body.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  virtual Task<Result<std::optional<std::string>>> next() = 0;  // nullopt at the end
};

using Handler = std::function<Task<Reply>(Request)>;
using StreamingHandler = std::function<Task<Reply>(Request, BodyReader&)>;

struct RouteOptions {
  std::size_t max_body = 3u << 20;  // larger: 413; routes of GET take no body
  // From the headers to the end of the body: 408. For `streaming`, applies to each wait. A client
  // that does not read its response within this time is cut off.
  Millis body_timeout{30'000};
  Millis handler_timeout{60'000};  // until the handler returns: 504; 0: no limit
};

struct Route {
  std::string method;   // "GET"; "*" for any
  std::string pattern;  // "/healthz", "/api/*" (prefix), "*"
  Handler handler = {};
  StreamingHandler streaming = {};  // instead of handler
  RouteOptions options = {};
};

struct ServerOptions {
  std::string address = "127.0.0.1:0";  // host:port, [::1]:port, or unix:///path
  std::optional<ServerTls> tls = {};
  unsigned socket_mode = 0600;  // for a unix socket
  std::size_t max_header = 64 << 10;
  std::size_t max_connections = 20'000;
  // One client may have so many connections, and half of `max_bodies`. 0: no limit.
  std::size_t max_connections_per_peer = 0;
  // Bytes of the bodies of all requests that are being received or handled. More: 503, or with
  // HTTP/2 a reset that tells the client to try again. 0: no limit.
  std::size_t max_bodies = 0;
  Millis header_timeout{10'000};    // also the TLS handshake
  Millis idle_timeout{120'000};     // between requests
  std::size_t gzip_from = 1 << 10;  // minimum size of bodies to compress, if the client accepts it
  // With TLS, clients that offer h2 get it. Only for handlers that return a Response: a client that
  // uses HTTP/2 for a route that streams the body, or for a response that is Streamed or Upgraded,
  // is asked to use HTTP/1.1, which not every client does. So it is not for servers of watches,
  // logs and exec: each watch would hold a part of the connection's window.
  bool http2 = false;
};

class Server {
 public:
  // Listens at once; handlers run until drain() or destruction. 404 for paths without a route, 405
  // methods: 405. All limits of time are of `clock`, which outlives the server and its connections.
  static Result<std::unique_ptr<Server>> listen(std::vector<Executor> loops, ServerOptions options,
                                                std::vector<Route> routes,
                                                Clock& clock = system_clock());
  virtual ~Server() = default;
  virtual std::string address() const = 0;  // with the real port
  virtual std::uint16_t port() const = 0;
  // Stops accepting, waits for requests under way, ends streams, closes idle connections; after
  // `grace` closes the rest.
  virtual Task<void> drain(Millis grace) = 0;
  virtual Result<void> set_tls(ServerTls tls) = 0;  // for new connections
  virtual std::size_t connections() const = 0;
};

}  // namespace plim::net
