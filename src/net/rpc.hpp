// gRPC over unix sockets: bytes in, bytes out. Messages are turned into structs by *_grpc.cpp files
// elsewhere. Everything of one Channel or RpcServer belongs to one loop.
//
//   auto cri = Channel::unix_socket(loop, "/run/containerd/containerd.sock");
//   RpcReply reply = co_await cri->call("/runtime.v1.RuntimeService/Version", request, 5s);
//
// A task cancelled while it waits in call(), open() or next() cancels the call on its way out.
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

enum class RpcCode {  // the numbers are those of the protocol
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

  Error to_error() const;  // codes mapped to ours; not for ok
};

struct RpcReply {
  RpcStatus status = {};
  std::string body = {};
};

struct RpcLimits {
  std::size_t max_message = 16u << 20;  // larger ones end in resource_exhausted
  std::uint32_t stream_window = 256u << 10;
  std::uint32_t connection_window = 1u << 20;
  std::size_t queued_messages = 4;  // a reader this far behind stops the sender
  // As server:
  std::uint32_t max_streams = 128;   // per connection; more wait in the client
  std::size_t max_connections = 32;  // further ones are closed at once
  std::size_t max_connections_per_uid = 16;
};

using RpcClock = std::chrono::steady_clock;
inline constexpr RpcClock::duration kNoDeadline = RpcClock::duration::max();

using RpcMetadata = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// Client end of a server stream; destroying it cancels the call. One waits in next() at a time.
class RpcReader {
 public:
  virtual ~RpcReader() = default;
  virtual Task<bool> next(std::string& message) = 0;  // false: ended, see status()
  virtual const RpcStatus& status() const = 0;
};

// Connects when first used, and again after a loss or GOAWAY; a call that finds nobody listening
// fails at once with unavailable. Calls a server refused unseen are repeated.
class Channel {
 public:
  // `metadata` goes with every call. Deadlines are of `clock`, which outlives the channel.
  static std::shared_ptr<Channel> unix_socket(Executor loop, std::string path,
                                              RpcLimits limits = {}, RpcMetadata metadata = {},
                                              Clock& clock = system_clock());
  virtual ~Channel() = default;
  virtual Task<RpcReply> call(std::string method, std::string request,
                              RpcClock::duration deadline) = 0;
  // Never null; what went wrong is the reader's status after next().
  virtual Task<std::unique_ptr<RpcReader>> open(std::string method, std::string request,
                                                RpcClock::duration deadline) = 0;
  // Running calls end in cancelled; the next one connects anew.
  virtual void close() = 0;
};

// Server end of a call; lives as long as its handler. The handler's task is cancelled when the
// caller is gone or its deadline has passed.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  virtual RpcClock::time_point deadline() const = 0;  // time_point::max(): none
  virtual unsigned peer_uid() const = 0;
  // Streaming only. Waits while the caller lags; false: the call is over.
  virtual Task<bool> write(std::string message) = 0;
};

// Handlers are tasks of the server's own group: co_await drain() before destroying a server that
// has calls running. Idle connections are closed by the destructor.
class RpcServer {
 public:
  using Unary = std::function<Task<RpcReply>(RpcCall&, std::string)>;
  using Streaming = std::function<Task<RpcStatus>(RpcCall&, std::string)>;
  // Replaces the socket file of a server that is gone, but neither another kind of file nor a
  // socket somebody listens on. The file gets `mode`; it is removed at the end.
  // Deadlines are of `clock`, which outlives the server and its calls.
  static Result<std::unique_ptr<RpcServer>> listen(Executor loop, std::string path,
                                                   unsigned mode = 0600, RpcLimits limits = {},
                                                   Clock& clock = system_clock());
  virtual ~RpcServer() = default;
  // A request to a method registered by neither ends in unimplemented.
  virtual void unary(std::string method, Unary handler) = 0;
  virtual void streaming(std::string method, Streaming handler) = 0;
  // Accepts nothing new, waits up to `grace` for running calls and their answers, cancels the rest.
  virtual Task<void> drain(RpcClock::duration grace) = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace plim::net
