// gRPC over unix sockets: bytes in, bytes out. *_grpc.cpp files of other folders convert messages
// to structs. A Channel or RpcServer with all its parts belongs to one loop.
//
//   auto cri = Channel::unix_socket(loop, "/run/containerd/containerd.sock");
//   RpcReply reply = co_await cri->call("/runtime.v1.RuntimeService/Version", request, 5s);
//
// If a task is cancelled while it waits in call(), open() or next(), the call is cancelled too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::net {

enum class RpcCode {  // numbers of the protocol
  ok,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

struct RpcStatus {
  RpcCode code = RpcCode::ok;
  std::string message = {};

  bool ok() const { return code == RpcCode::ok; }

  Error to_error() const;  // maps the code to ours; not for ok
};

struct RpcReply {
  RpcStatus status = {};
  std::string body = {};
};

struct RpcLimits {
  std::size_t max_message = 16u << 20;  // larger ones end with resource_exhausted
  std::uint32_t stream_window = 256u << 10;
  std::uint32_t connection_window = 1u << 20;
  std::size_t queued_messages = 4;  // the sender stops if a reader is this far behind
  // For servers:
  std::uint32_t max_streams = 128;   // per connection; more wait in the client
  std::size_t max_connections = 32;  // further ones are closed at once
  std::size_t max_connections_per_uid = 16;
};

using RpcClock = std::chrono::steady_clock;
inline constexpr RpcClock::duration kNoDeadline = RpcClock::duration::max();

using RpcMetadata = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// Client end of a server stream; destroying it cancels the call. Only one task may wait in next().
class RpcReader {
 public:
  virtual ~RpcReader() = default;
  virtual Task<bool> next(std::string& message) = 0;  // false at the end, see status()
  virtual const RpcStatus& status() const = 0;
};

// Connects at the first use, and again after a loss or GOAWAY. If no server listens, a call fails
// at once with unavailable. Calls that a server refused before handling them are retried.
class Channel {
 public:
  // `metadata` goes with every call. Deadlines are of `clock`, which outlives the channel.
  static std::shared_ptr<Channel> unix_socket(Executor loop, std::string path,
                                              RpcLimits limits = {}, RpcMetadata metadata = {},
                                              Clock& clock = system_clock());
  virtual ~Channel() = default;
  virtual Task<RpcReply> call(std::string method, std::string request,
                              RpcClock::duration deadline) = 0;
  // Never null; after next() the status of the reader has the error.
  virtual Task<std::unique_ptr<RpcReader>> open(std::string method, std::string request,
                                                RpcClock::duration deadline) = 0;
  // Running calls end with cancelled; the next call connects again.
  virtual void close() = 0;
};

// Server end of a call; lives as long as its handler. The handler's task is cancelled when the
// caller is gone or the deadline has passed.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  virtual RpcClock::time_point deadline() const = 0;  // time_point::max(): none
  virtual unsigned peer_uid() const = 0;
  // Only for streaming. Waits if the caller is slow; false: the call is over.
  virtual Task<bool> write(std::string message) = 0;
};

// Handlers are tasks in the server's own group: co_await drain() before destroying a server with
// running calls. The destructor closes idle connections.
class RpcServer {
 public:
  using Unary = std::function<Task<RpcReply>(RpcCall&, std::string)>;
  using Streaming = std::function<Task<RpcStatus>(RpcCall&, std::string)>;
  // Replaces the socket file of a server that is gone, but neither another kind of file nor a
  // socket in use. The file gets `mode`; it is removed at the end.
  // Deadlines are of `clock`, which outlives the server and its calls.
  static Result<std::unique_ptr<RpcServer>> listen(Executor loop, std::string path,
                                                   unsigned mode = 0600, RpcLimits limits = {},
                                                   Clock& clock = system_clock());
  virtual ~RpcServer() = default;
  // Requests to other methods end with unimplemented.
  virtual void unary(std::string method, Unary handler) = 0;
  virtual void streaming(std::string method, Streaming handler) = 0;
  // Accepts no new calls, waits up to `grace` for running ones, cancels the rest.
  virtual Task<void> drain(RpcClock::duration grace) = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace plim::net
