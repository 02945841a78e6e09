#include "net/rpc/connection.hpp"

#include <array>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

namespace plim::net::rpc {
namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

namespace {

constexpr std::size_t kWriteBatch = 64 << 10;
constexpr std::size_t kKeptBuffer = 16 << 10;  // an idle connection keeps no larger one
constexpr int kReadsInARow = 8;                // then other tasks of the loop run

}  // namespace

unsigned peer_uid(UnixSocket& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return static_cast<unsigned>(-1);
  return peer.uid;
}

ConnectionPtr Connection::start(UnixSocket socket, Session::Role role, RpcLimits limits,
                                Hooks hooks) {
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  auto connection = std::make_shared<Connection>(std::move(socket), role, limits, std::move(hooks));
  connection->schedule_write();  // sends the preface and our settings
  connection->wait_for_input();
  return connection;
}

// The hooks of the session may refer to this object, which owns the session.
Connection::Connection(UnixSocket socket, Session::Role role, RpcLimits limits, Hooks hooks)
    : socket_(std::move(socket)),
      peer_uid_(rpc::peer_uid(socket_)),
      hooks_(std::move(hooks)),
      session_(
          role, limits,
          {.on_output = [this] { schedule_write(); },
           .on_request = [this](const StreamPtr& stream) { hooks_.on_request(*this, stream); }}) {}

void Connection::close(const RpcStatus& why) {
  end(why, Session::Gone::closed_by_us);
}

void Connection::lost(const std::string& reason) {
  auto tell_owner = std::move(hooks_.on_closed);
  end({RpcCode::unavailable, reason}, Session::Gone::lost);
  if (tell_owner) tell_owner(*this);
}

void Connection::end(const RpcStatus& why, Session::Gone how) {
  if (std::exchange(closed_, true)) return;
  ErrorCode ignored;
  socket_.close(ignored);
  hooks_.on_closed = nullptr;
  session_.abort(why, how);
}

bool Connection::usable() {
  if (closed_ || deaf_ || !session_.takes_calls()) return false;
  char byte = 0;
  auto n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void Connection::wait_for_input() {
  auto ready = [self = shared_from_this()](const ErrorCode& error) {
    if (!error && !self->closed_) self->read();
  };
  socket_.async_wait(UnixSocket::wait_read, std::move(ready));
}

void Connection::read() {
  thread_local std::array<char, 32 << 10>
      buffer;  // shared by all connections of this thread's loop
  for (int i = 0; i < kReadsInARow && !closed_; ++i) {
    ErrorCode error;
    auto n = socket_.read_some(asio::buffer(buffer), error);
    if (error == asio::error::would_block) break;
    if (error == asio::error::eof) return lost("the peer closed the connection");
    if (error) return lost(fmt::format("connection lost: {}", error.message()));
    bool sound = session_.receive(std::string_view(buffer.data(), n));
    write();  // includes what the library sends to a peer that broke the protocol
    if (!sound) return lost(fmt::format("the peer broke the protocol: {}", session_.complaint()));
    if (n < buffer.size()) break;
  }
  if (!closed_) wait_for_input();
}

// Posted to the loop, never called directly: the library's callbacks announce output, and calls
// made together leave in one write.
void Connection::schedule_write() {
  if (closed_ || deaf_ || waiting_for_room_ || std::exchange(write_scheduled_, true)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->write_scheduled_ = false;
    self->write();
  });
}

void Connection::write() {
  if (closed_ || deaf_ || waiting_for_room_) return;
  for (;;) {
    if (!session_.send_into(out_, out_sent_ + kWriteBatch)) return lost("connection lost");
    if (closed_ || out_.empty()) break;
    ErrorCode error;
    out_sent_ +=
        socket_.write_some(asio::buffer(out_.data() + out_sent_, out_.size() - out_sent_), error);
    if (error == asio::error::would_block) return wait_for_room();
    if (error) {
      deaf_ = true;  // what it sent before, such as refused calls, must still be read
      return;
    }
    if (out_sent_ < out_.size()) continue;
    out_.clear();
    out_sent_ = 0;
    if (out_.capacity() > kKeptBuffer) out_.shrink_to_fit();
  }
  if (!closed_ && session_.finished())
    lost(session_.complaint().empty()
             ? "the connection has ended"
             : fmt::format("the peer broke the protocol: {}", session_.complaint()));
}

void Connection::wait_for_room() {
  waiting_for_room_ = true;
  out_.erase(0, std::exchange(out_sent_, 0));
  auto ready = [self = shared_from_this()](const ErrorCode& error) {
    self->waiting_for_room_ = false;
    if (!error) self->write();
  };
  socket_.async_wait(UnixSocket::wait_write, std::move(ready));
}

}  // namespace plim::net::rpc
