// gRPC over unix sockets: bytes in, bytes out. Messages are turned into structs by *_grpc.cpp files
// elsewhere. Everything of one Channel or RpcServer belongs to one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::net {

enum class RpcCode {
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
  std::uint32_t max_streams = 128;   // per connection, as server
  std::size_t max_connections = 16;  // as server
  std::size_t queued_messages = 4;   // a reader this far behind stops the sender
};

using RpcClock = std::chrono::steady_clock;

// Client end of a server stream; destroying it cancels the call.
class RpcReader {
 public:
  virtual ~RpcReader() = default;
  virtual Task<bool> next(std::string& message) = 0;  // false: ended, see status()
  virtual const RpcStatus& status() const = 0;
};

// Connects when first used, and again after a loss or GOAWAY.
class Channel {
 public:
  static std::shared_ptr<Channel> unix_socket(Executor loop, std::string path,
                                              RpcLimits limits = {});
  virtual ~Channel() = default;
  virtual Task<RpcReply> call(std::string method, std::string request,
                              RpcClock::duration deadline) = 0;
  virtual Task<std::unique_ptr<RpcReader>> open(std::string method, std::string request,
                                                RpcClock::duration deadline) = 0;
  virtual void close() = 0;
};

// Server end; the handler is cancelled when the caller is gone.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  virtual RpcClock::time_point deadline() const = 0;
  virtual unsigned peer_uid() const = 0;
  virtual Task<bool> write(
      std::string message) = 0;  // false: caller gone; waits while the caller lags
};

class RpcServer {
 public:
  using Unary = std::function<Task<RpcReply>(RpcCall&, std::string)>;
  using Streaming = std::function<Task<RpcStatus>(RpcCall&, std::string)>;
  // Replaces a stale socket file; the file gets `mode`.
  static Result<std::unique_ptr<RpcServer>> listen(Executor loop, std::string path,
                                                   unsigned mode = 0600, RpcLimits limits = {});
  virtual ~RpcServer() = default;  // closes everything
  virtual void unary(std::string method, Unary handler) = 0;
  virtual void streaming(std::string method, Streaming handler) = 0;
  virtual Task<void> drain(RpcClock::duration grace) = 0;  // GOAWAY, wait for running calls, close
  virtual std::size_t connections() const = 0;
};

}  // namespace plim::net
