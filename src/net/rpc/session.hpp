// One HTTP/2 connection that speaks gRPC, without a socket: bytes in, bytes out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/h2/session.hpp"
#include "net/rpc.hpp"
#include "net/rpc/stream.hpp"

namespace plim::net::rpc {

inline constexpr std::uint32_t kMaxHeaderBytes = 16 << 10;  // of one call, in each direction

// Notifies streams and hooks before receive() and send_into() return; these may call everything
// here except receive() and send_into(). Belongs to one loop.
class Session final : public h2::Session {
 public:
  struct Hooks {
    std::function<void()> on_output;                   // there may be bytes to send
    std::function<void(const StreamPtr&)> on_request;  // server: a request is complete
  };

  Session(Role role, RpcLimits limits, Hooks hooks);

  // The connection is gone: ends every call, those with a complete response with that response. If
  // the peer had not sent a byte, for example in the backlog of a server that closed, it did not
  // see the calls: a server sends first.
  enum class Gone { closed_by_us, lost };
  void abort(const RpcStatus& why, Gone how = Gone::closed_by_us);

  bool takes_calls() const { return !going_away_; }

  std::size_t calls() const { return streams_.size(); }

  // Client. If the ID of the stream is negative, the session accepts no more calls.
  // `timeout` is for the server to know; kNoDeadline: none.
  StreamPtr request(std::string_view path, std::string_view message, RpcClock::duration timeout,
                    const RpcMetadata& metadata);
  // Ends the call here with `why` and notifies the peer; does nothing if it is over.
  void cancel(Stream& stream, RpcStatus why);

  // One message for the application; returns the window once the reader has caught up.
  std::string take(Stream& stream);

  // Server.
  void send(Stream& stream, std::string_view message);
  void finish(Stream& stream, RpcStatus status);
  // Like finish(), but drops unsent bytes; the call is over at once.
  void cut_short(Stream& stream, RpcStatus status);
  void refuse(Stream& stream, std::string_view http_status);  // for requests that are not gRPC

 private:
  void on_output() override;
  void deliver() override;
  void on_request_begins(std::int32_t id) override;
  bool on_field(std::int32_t id, std::string_view name, std::string_view value) override;
  void on_data(std::int32_t id, std::string_view bytes) override;
  void on_frame(Frame frame, std::int32_t id, bool ends_stream) override;
  void on_closed(std::int32_t id, std::uint32_t code) override;
  BodyPart read_body(std::int32_t id, std::span<char> into) override;

  StreamPtr find(std::int32_t id) const;
  void check_answer(const StreamPtr& stream);
  void submit_headers(Stream& stream);
  void submit_status(const Stream& stream);
  void changed(const StreamPtr& stream);
  void fail(const StreamPtr& stream, RpcStatus why);

  RpcLimits limits_;
  Hooks hooks_;
  std::unordered_map<std::int32_t, StreamPtr> streams_;
  std::vector<StreamPtr> requests_;  // complete, not delivered yet
  std::vector<StreamPtr> changed_;
};

}  // namespace plim::net::rpc
