#include "net/server.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/event.hpp"
#include "base/log.hpp"
#include "net/connection.hpp"
#include "net/listener.hpp"

namespace plim::net {
namespace asio = boost::asio;

namespace {

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);
constexpr int kAcceptBatch = 64;                    // then other tasks of the loop run
constexpr std::chrono::milliseconds kBackOff{100};  // out of descriptors: others must be closed

void report_exception(const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    log::error("http", "connection ended by an exception", {{"what", e.what()}});
  }
}

Result<std::shared_ptr<const TlsContext>> offer(const ServerTls& tls, bool http2) {
  return TlsContext::for_server(tls,
                                http2 ? TlsContext::Offer::http2_too : TlsContext::Offer::http1);
}

// Runs on the share's loop. Not in a TaskGroup: a connection owns itself, because the server may be
// destroyed, without waiting, before the connection has noticed.
void start_connection(const std::shared_ptr<ServerState>& state,
                      const std::shared_ptr<LoopShare>& share, Quota::Part place, int family,
                      int fd) {
  Socket socket(share->loop);
  boost::system::error_code error;
  socket.assign(asio::generic::stream_protocol(family, 0), fd, error);
  if (error) {
    ::close(fd);
    return state->connection_ended();
  }
  if (family != AF_UNIX) set_tcp_options(socket);
  auto connection = std::make_shared<Connection>(state, share, std::move(place), std::move(socket));
  if (state->draining) return connection->abort();
  asio::co_spawn(share->loop, connection->run(), report_exception);
}

// Accepts on the first loop. Owned by its coroutine, like connections.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(Listener listener, std::shared_ptr<ServerState> state,
           std::vector<std::shared_ptr<LoopShare>> shares)
      : listener_(std::move(listener)),
        state_(std::move(state)),
        shares_(std::move(shares)),
        waiter_(shares_.front()->loop),
        pause_(shares_.front()->loop) {
    waiter_.assign(listener_->fd());
  }

  ~Acceptor() { stop(); }

  Task<void> run() {
    auto self = shared_from_this();
    while (listener_) {
      auto [error] =
          co_await waiter_.async_wait(asio::posix::stream_descriptor::wait_read, kAwaitTuple);
      if (!listener_) co_return;
      if (!error && accept_some()) continue;
      pause_.expires_after(kBackOff);
      co_await pause_.async_wait(kAwaitTuple);
    }
  }

  void stop() {
    if (!listener_) return;
    waiter_.release();  // the listener closes the descriptor
    pause_.cancel();
    listener_.reset();
  }

 private:
  // False if something is wrong: wait before the next attempt.
  bool accept_some() {
    for (int i = 0; i < kAcceptBatch; ++i) {
      int fd = ::accept4(listener_->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        distribute(fd);
        continue;
      }
      if (errno == EAGAIN) return true;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      throttle_.write(log::Level::warn, "http", "cannot accept connections",
                      {{"address", listener_->address()}, {"error", fail_errno(errno, "accept")}});
      return false;
    }
    return true;
  }

  void distribute(int fd) {
    Quota::Part place(state_->places, peer_of(fd));
    if (!place.grow(1)) {
      throttle_.write(log::Level::warn, "http", "too many connections, closing a new one",
                      {{"limit", state_->options.max_connections},
                       {"limit_per_peer", state_->options.max_connections_per_peer}});
      ::close(fd);
      return;
    }
    ++state_->connections;
    auto share = shares_[next_++ % shares_.size()];
    if (shares_.size() == 1)
      return start_connection(state_, share, std::move(place), listener_->family(), fd);
    asio::post(share->loop,
               [state = state_, share, place = std::move(place), family = listener_->family(),
                fd]() mutable { start_connection(state, share, std::move(place), family, fd); });
  }

  std::optional<Listener> listener_;  // empty once stopped
  std::shared_ptr<ServerState> state_;
  std::vector<std::shared_ptr<LoopShare>> shares_;
  asio::posix::stream_descriptor waiter_;
  asio::steady_timer pause_;
  std::size_t next_ = 0;
  log::Throttle throttle_;
};

class HttpServer final : public Server {
 public:
  HttpServer(Listener listener, std::shared_ptr<ServerState> state, std::vector<Executor> loops)
      : address_(listener.address()), port_(listener.port()), state_(std::move(state)) {
    for (Executor& loop : loops)
      shares_.push_back(std::make_shared<LoopShare>(std::move(loop), state_->clock));
    acceptor_ = std::make_shared<Acceptor>(std::move(listener), state_, shares_);
    asio::co_spawn(shares_.front()->loop, acceptor_->run(), report_exception);
  }

  ~HttpServer() override {
    state_->draining = true;
    stop_accepting();
    for_each_connection(&Connection::abort);
  }

  std::string address() const override { return address_; }

  std::uint16_t port() const override { return port_; }

  std::size_t connections() const override { return state_->connections; }

  Result<void> set_tls(ServerTls tls) override {
    if (!state_->tls()) return fail(Code::invalid, "this server does not use TLS");
    PLIM_TRY(auto context, offer(tls, state_->options.http2));
    std::lock_guard held(state_->mutex);
    state_->tls_context = std::move(context);
    return {};
  }

  Task<void> drain(Millis grace) override {
    state_->draining = true;
    stop_accepting();
    for_each_connection(&Connection::drain);
    auto state = state_;
    Executor loop = co_await asio::this_coro::executor;
    auto emptied = std::make_shared<Event>(loop);
    {
      std::lock_guard held(state->mutex);
      std::weak_ptr<Event> weak = emptied;
      state->on_empty = [loop, weak] {
        asio::post(loop, [weak] {
          if (auto event = weak.lock()) event->notify();
        });
      };
    }
    const SteadyTime until = state->clock.steady() + grace;
    while (state->connections > 0) {
      const bool in_time = co_await emptied->wait_until(state->clock, until);
      if (!in_time) break;
    }
    for_each_connection(&Connection::abort);
    // Handlers are cancelled now. They use what our caller is about to destroy, so this waits for
    // them without a limit.
    while (state->connections > 0) co_await emptied->wait();
    std::lock_guard held(state->mutex);
    state->on_empty = nullptr;
  }

 private:
  // Immediately if called on the loop, otherwise soon.
  void stop_accepting() {
    asio::dispatch(shares_.front()->loop, [acceptor = acceptor_] { acceptor->stop(); });
  }

  void for_each_connection(void (Connection::*what)()) {
    for (const auto& share : shares_) {
      asio::dispatch(share->loop, [share, what] {
        // Keeps them alive: ending one may remove it from the set.
        std::vector<std::shared_ptr<Connection>> all;
        for (Connection* connection : share->connections)
          all.push_back(connection->shared_from_this());
        for (const auto& connection : all) (*connection.*what)();
      });
    }
  }

  const std::string address_;
  const std::uint16_t port_;
  const std::shared_ptr<ServerState> state_;
  std::vector<std::shared_ptr<LoopShare>> shares_;
  std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(std::vector<Executor> loops, ServerOptions options,
                                               std::vector<Route> routes, Clock& clock) {
  PLIM_ASSERT(!loops.empty());
  std::shared_ptr<const TlsContext> tls;
  if (options.tls) {
    PLIM_TRY(tls, offer(*options.tls, options.http2));
  }
  PLIM_TRY(Listener listener, Listener::open(options.address, options.socket_mode));
  auto state = std::make_shared<ServerState>(std::move(options), std::move(routes), clock);
  state->tls_context = std::move(tls);
  return std::unique_ptr<Server>(
      std::make_unique<HttpServer>(std::move(listener), std::move(state), std::move(loops)));
}

}  // namespace plim::net
