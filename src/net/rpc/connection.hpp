// A Session on a connected unix socket.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/local/stream_protocol.hpp>

#include "base/task.hpp"
#include "net/rpc/session.hpp"

namespace plim::net::rpc {

using UnixProtocol = boost::asio::local::stream_protocol;
using UnixSocket = UnixProtocol::socket;

// Copies bytes between socket and session until either ends. Shared, since a pending socket
// operation keeps it alive; belongs to the socket's loop.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Hooks {
    std::function<void(Connection&, const StreamPtr&)> on_request = {};  // server
    std::function<void(Connection&)> on_closed = {};  // once, unless close() was called
  };

  static std::shared_ptr<Connection> start(UnixSocket socket, Session::Role role, RpcLimits limits,
                                           Hooks hooks);
  Connection(UnixSocket socket, Session::Role role, RpcLimits limits, Hooks hooks);

  Session& session() { return session_; }

  // Closes the socket and ends every call with `why`; no hooks are called afterwards.
  void close(const RpcStatus& why);

  bool closed() const { return closed_; }

  // Whether it accepts new calls. Checks the socket too: the peer may have closed unnoticed.
  bool usable();

  unsigned peer_uid() const { return peer_uid_; }

  Executor executor() { return socket_.get_executor(); }

 private:
  void wait_for_input();
  void read();
  void schedule_write();
  void write();
  void wait_for_room();
  void lost(const std::string& reason);
  void end(const RpcStatus& why, Session::Gone how);

  UnixSocket socket_;
  unsigned peer_uid_;
  Hooks hooks_;
  Session session_;
  std::string out_;
  std::size_t out_sent_ = 0;
  bool write_scheduled_ = false;
  bool waiting_for_room_ = false;
  bool deaf_ = false;  // the peer reads no more bytes
  bool closed_ = false;
};

using ConnectionPtr = std::shared_ptr<Connection>;

// Effective user of the process that connected or listens; (unsigned)-1 if unknown.
unsigned peer_uid(UnixSocket& socket);

}  // namespace plim::net::rpc
