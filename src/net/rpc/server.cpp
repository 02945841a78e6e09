#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/event.hpp"
#include "base/log.hpp"
#include "net/rpc.hpp"
#include "net/rpc/connection.hpp"
#include "net/rpc/listener.hpp"
#include "net/rpc/server_call.hpp"

namespace plim::net::rpc {
namespace asio = boost::asio;

namespace {

class UnixServer final : public RpcServer {
 public:
  UnixServer(Executor loop, std::shared_ptr<Listener> listener, std::string path, RpcLimits limits,
             Clock& clock)
      : path_(std::move(path)),
        limits_(limits),
        clock_(clock),
        listener_(std::move(listener)),
        handlers_(loop),
        emptied_(loop) {
    listener_->start([this](UnixSocket socket) { accept(std::move(socket)); });
  }

  ~UnixServer() override {
    listener_->close();
    close_connections();
  }

  UnixServer(const UnixServer&) = delete;
  UnixServer& operator=(const UnixServer&) = delete;

  void unary(std::string method, Unary handler) override {
    methods_[std::move(method)] = Method{.unary = std::move(handler)};
  }

  void streaming(std::string method, Streaming handler) override {
    methods_[std::move(method)] = Method{.streaming = std::move(handler)};
  }

  // After GOAWAY, a connection ends when its last response is sent. Cancelling the caller does not
  // stop this, since destroying the server must be safe; `grace` limits it.
  Task<void> drain(RpcClock::duration grace) override {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    listener_->close();
    for (const ConnectionPtr& connection : connections_) connection->session().go_away();
    const SteadyTime until = deadline_after(clock_.steady(), grace);
    bool in_time = true;
    while (!connections_.empty() && in_time) in_time = co_await emptied_.wait_until(clock_, until);
    close_connections();
    co_await handlers_.stop();
  }

  std::size_t connections() const override { return connections_.size(); }

 private:
  void accept(UnixSocket socket) {
    unsigned uid = peer_uid(socket);
    auto same_uid = [uid](const ConnectionPtr& other) { return other->peer_uid() == uid; };
    auto of_uid = std::count_if(connections_.begin(), connections_.end(), same_uid);
    if (connections_.size() >= limits_.max_connections ||
        static_cast<std::size_t>(of_uid) >= limits_.max_connections_per_uid) {
      throttle_.write(log::Level::warn, "rpc", "too many connections, closed the newest",
                      {{"socket", path_}, {"uid", uid}, {"connections", connections_.size()}});
      return;
    }
    Connection::Hooks hooks{
        .on_request = [this](Connection& from, const StreamPtr& call) { dispatch(from, call); },
        .on_closed = [this](Connection& gone) { forget(gone); }};
    connections_.push_back(
        Connection::start(std::move(socket), Session::Role::server, limits_, std::move(hooks)));
  }

  void forget(const Connection& gone) {
    std::erase_if(connections_, [&](const ConnectionPtr& other) { return other.get() == &gone; });
    if (connections_.empty()) emptied_.notify();
  }

  void close_connections() {
    for (const ConnectionPtr& connection : std::exchange(connections_, {}))
      connection->close({RpcCode::unavailable, "the server is closing"});
  }

  void dispatch(Connection& connection, const StreamPtr& stream) {
    Session& session = connection.session();
    if (stream->method != "POST") return session.refuse(*stream, "405");
    if (!stream->content_type.starts_with("application/grpc"))
      return session.refuse(*stream, "415");
    auto method = methods_.find(stream->path);
    if (method == methods_.end())
      return session.finish(
          *stream, {RpcCode::unimplemented, fmt::format("unknown method {}", stream->path)});
    if (stream->messages.size() != 1 || stream->frames.mid_message())
      return session.finish(*stream,
                            {RpcCode::internal, "expected one whole message as the request"});
    auto call =
        std::make_shared<ServerCall>(connection.shared_from_this(), stream, method->second, clock_);
    call->start(handlers_);
  }

  std::string path_;
  RpcLimits limits_;
  Clock& clock_;
  std::shared_ptr<Listener> listener_;
  std::unordered_map<std::string, Method> methods_;
  std::vector<ConnectionPtr> connections_;
  TaskGroup handlers_;
  Event emptied_;
  log::Throttle throttle_;
};

}  // namespace
}  // namespace plim::net::rpc

namespace plim::net {

Result<std::unique_ptr<RpcServer>> RpcServer::listen(Executor loop, std::string path, unsigned mode,
                                                     RpcLimits limits, Clock& clock) {
  PLIM_TRY(auto listener, rpc::Listener::open(loop, path, mode));
  return std::make_unique<rpc::UnixServer>(std::move(loop), std::move(listener), std::move(path),
                                           limits, clock);
}

}  // namespace plim::net
