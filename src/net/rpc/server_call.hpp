// A call a server is answering.
#pragma once

#include <memory>

#include <boost/asio/steady_timer.hpp>

#include "base/clock_timer.hpp"
#include "base/task.hpp"
#include "net/rpc.hpp"
#include "net/rpc/connection.hpp"

namespace plim::net::rpc {

// What is registered for a path: one of the two.
struct Method {
  RpcServer::Unary unary = {};
  RpcServer::Streaming streaming = {};
};

// Shared by its handler's coroutine and, until that has ended, by nobody else: the stream's hook
// and the timer only look whether it is still there. A caller that is gone, or late, cancels the
// task.
class ServerCall final : public RpcCall, public std::enable_shared_from_this<ServerCall> {
 public:
  ServerCall(ConnectionPtr connection, StreamPtr stream, const Method& method, Clock& clock);

  // Arms the deadline, then starts the handler: it may end at once.
  void start(TaskGroup& handlers);

  RpcClock::time_point deadline() const override { return deadline_; }

  unsigned peer_uid() const override { return connection_->peer_uid(); }

  Task<bool> write(std::string message) override;

 private:
  static Task<void> run(std::shared_ptr<ServerCall> self);
  Task<void> answer();
  void on_change();
  void on_deadline();

  ConnectionPtr connection_;
  StreamPtr stream_;
  const Method& method_;
  RpcClock::time_point deadline_;
  ClockTimer late_;
  boost::asio::steady_timer changed_;  // never expires; cancelled to wake write()
  TaskGroup::Handle task_;
};

}  // namespace plim::net::rpc
