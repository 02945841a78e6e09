// One call on a session, for both ends: plain state, without I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/rpc.hpp"
#include "net/rpc/codec.hpp"

namespace plim::net::rpc {

// Shared by the session, which fills it, and the task that reads or answers the call; all on one
// loop. Only the session changes it, except on_change.
struct Stream {
  explicit Stream(std::size_t max_message) : frames(max_message) {}

  std::int32_t id = -1;  // negative: did not reach the session
  // Called when a message arrived, space for writing became available, or the call is over.
  std::function<void()> on_change;

  // Received from the peer.
  std::string method, path, content_type;  // of a request
  std::optional<RpcClock::duration> timeout;
  int http_status = 0;   // of a response
  int grpc_status = -1;  // negative: none yet
  std::string grpc_message;
  std::size_t header_bytes = 0;
  FrameReader frames;
  std::deque<std::string> messages;
  std::size_t window_held = 0;  // received bytes not returned yet, since the reader is slow
  bool answered = false;        // client: the first headers of the response have arrived
  bool remote_end = false;
  bool dispatched = false;  // server: passed to on_request

  // To be sent.
  std::string out;
  std::size_t out_sent = 0;
  bool headers_submitted = false;
  bool finished = false;  // nothing will be appended to `out`
  RpcStatus trailer;

  // How the call ended.
  bool closed = false;
  std::uint32_t reset_code = 0;
  std::optional<RpcStatus> failed;  // by our decision: too large, too late, connection lost
  bool change_queued = false;

  bool over() const { return closed || failed.has_value(); }

  std::size_t unsent() const { return out.size() - out_sent; }

  // The peer guarantees that no handler has seen this call.
  bool refused() const;
  // Client: the status of a call that is over.
  RpcStatus verdict() const;
};

using StreamPtr = std::shared_ptr<Stream>;

}  // namespace plim::net::rpc
