// One HTTP/2 connection speaking gRPC, without a socket: bytes in, bytes out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/rpc.hpp"
#include "net/rpc/stream.hpp"

struct nghttp2_session;

namespace plim::net::rpc {

// Wraps an nghttp2 session, which must not be entered again from its own callbacks. They only note
// what happened; receive() and send_into() tell the streams and hooks before they return, so that
// those may call anything here but receive() and send_into(). Belongs to one loop.
class Session {
 public:
  enum class Role { client, server };

  struct Hooks {
    std::function<void()> on_output;                   // there may be bytes to send
    std::function<void(const StreamPtr&)> on_request;  // server: a whole request is in
  };

  Session(Role role, RpcLimits limits, Hooks hooks);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False: the peer broke the protocol; send what is left, then close.
  bool receive(std::string_view bytes);
  // Appends what is to be sent until `out` has `enough` bytes or there is no more. False: broken.
  bool send_into(std::string& out, std::size_t enough);
  // Neither expects nor has anything: close the connection.
  bool finished() const;
  // The connection is gone: ends every call, those with a full answer by that answer. Lost before
  // the peer said a word, for example in the backlog of a server that closed, it took the calls
  // with it unseen: a server speaks first.
  enum class Gone { closed_by_us, lost };
  void abort(const RpcStatus& why, Gone how = Gone::closed_by_us);
  // No new calls; running ones go on.
  void go_away();

  bool takes_calls() const { return !going_away_; }

  std::size_t calls() const { return streams_.size(); }

  // What the library said about the peer's last mistake; empty if it made none.
  const std::string& complaint() const { return complaint_; }

  // Client. If the stream's id is below zero the session takes no more calls.
  StreamPtr request(std::string_view path, std::string_view message, RpcClock::time_point deadline,
                    const RpcMetadata& metadata);
  // Ends the call here with `why` and tells the peer; nothing if it is over.
  void cancel(Stream& stream, RpcStatus why);

  // One message for the application; gives the window back once the reader has caught up.
  std::string take(Stream& stream);

  // Server.
  void send(Stream& stream, std::string_view message);
  void finish(Stream& stream, RpcStatus status);
  // As finish, but drops what was not sent yet; the call is over at once.
  void cut_short(Stream& stream, RpcStatus status);
  void refuse(Stream& stream, std::string_view http_status);  // for what is not gRPC

 private:
  struct Callbacks;

  struct Free {
    void operator()(nghttp2_session* session) const;
  };

  bool is_server() const { return role_ == Role::server; }

  StreamPtr find(std::int32_t id) const;
  void submit_settings();
  void submit_headers(Stream& stream);
  void submit_trailer(const Stream& stream);
  void changed(const StreamPtr& stream);
  void deliver();
  void fail(const StreamPtr& stream, RpcStatus why);
  void output();

  Role role_;
  RpcLimits limits_;
  Hooks hooks_;
  std::unique_ptr<nghttp2_session, Free> session_;
  std::unordered_map<std::int32_t, StreamPtr> streams_;
  std::vector<StreamPtr> requests_;  // complete, not handed over yet
  std::vector<StreamPtr> changed_;
  std::string complaint_;
  bool going_away_ = false;
  bool heard_ = false;  // the peer has said something
};

}  // namespace plim::net::rpc
