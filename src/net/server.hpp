// HTTP/1.1 server, HTTP/2 too where it is asked for. Connections are spread over the given loops; a
// handler runs on its connection's loop.
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

using Piece = std::shared_ptr<const std::string>;  // one piece of a body, shared by every watcher

// One open chunked answer with a bounded queue. Callable from any thread.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual bool push(
      Piece piece) = 0;  // false: the queue overflowed or the peer is gone; the answer is closing
  virtual std::size_t queued() = 0;  // pieces that wait for the peer, so that a producer can too
  virtual void finish() = 0;         // regular end after what is queued
  virtual void abort() = 0;  // the end at once, for a peer that does not take what is queued
  virtual void on_gone(
      std::function<void()> callback) = 0;  // once, on the connection's loop, when it has ended
};

struct Streamed {
  int status = 200;
  Headers headers = {};
  std::function<void(std::shared_ptr<Sink>)> attach;  // called once the headers are on their way
  std::size_t max_queued = 1024;                      // pieces
};

// Takes the connection over after a 101 answer with these headers.
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
  std::size_t max_body = 3u << 20;  // larger: 413
  // From the headers to the end of the body: 408. For `streaming`, of each wait. A client that does
  // not take its answer within this time is cut off.
  Millis body_timeout{30'000};
  Millis handler_timeout{60'000};  // until the handler returns: 504; 0: none
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
  unsigned socket_mode = 0600;  // of a unix socket
  std::size_t max_header = 64 << 10;
  std::size_t max_connections = 20'000;
  Millis header_timeout{10'000};    // also the TLS handshake
  Millis idle_timeout{120'000};     // between requests
  std::size_t gzip_from = 1 << 10;  // bodies of this size and more, when the client accepts it
  // With TLS, clients that offer h2 get it. For handlers that answer by a Response: who comes by
  // HTTP/2 to a route that streams the body, or gets an answer that is Streamed or Upgraded, is
  // told to come again by HTTP/1.1, which not every client does. So it is not for servers of
  // watches, logs and exec: a watch holds its window for itself and not for the others of its
  // connection.
  bool http2 = false;
};

class Server {
 public:
  // Listens at once; handlers run until drain() or destruction. Paths no route matches: 404,
  // methods: 405. All limits of time are of `clock`, which outlives the server and its connections.
  static Result<std::unique_ptr<Server>> listen(std::vector<Executor> loops, ServerOptions options,
                                                std::vector<Route> routes,
                                                Clock& clock = system_clock());
  virtual ~Server() = default;
  virtual std::string address() const = 0;  // with the real port
  virtual std::uint16_t port() const = 0;
  // Stops accepting, lets requests under way end, finishes streams, closes idle connections; after
  // `grace` the rest.
  virtual Task<void> drain(Millis grace) = 0;
  virtual Result<void> set_tls(ServerTls tls) = 0;  // for connections from now on
  virtual std::size_t connections() const = 0;
};

}  // namespace plim::net
