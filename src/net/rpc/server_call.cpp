#include "net/rpc/server_call.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace plim::net::rpc {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxUnsent = 64 << 10;  // a handler waits if its caller is this far behind

}  // namespace

ServerCall::ServerCall(ConnectionPtr connection, StreamPtr stream, const Method& method,
                       Clock& clock)
    : connection_(std::move(connection)),
      stream_(std::move(stream)),
      method_(method),
      deadline_(deadline_after(clock.steady(), stream_->timeout.value_or(kNoDeadline))),
      late_(connection_->executor(), clock),
      changed_(connection_->executor(), RpcClock::time_point::max()) {}

void ServerCall::start(TaskGroup& handlers) {
  stream_->on_change = [weak = weak_from_this()] {
    if (auto call = weak.lock()) call->on_change();
  };
  if (stream_->timeout) {
    late_.set(deadline_, [weak = weak_from_this()] {
      if (auto call = weak.lock()) call->on_deadline();
    });
  }
  task_ = handlers.spawn(stream_->path, run(shared_from_this()));
}

void ServerCall::on_change() {
  changed_.cancel();
  if (stream_->over()) task_.cancel();
}

void ServerCall::on_deadline() {
  connection_->session().cut_short(*stream_, {RpcCode::deadline_exceeded, "deadline exceeded"});
  on_change();
}

Task<void> ServerCall::run(std::shared_ptr<ServerCall> self) {
  try {
    co_await self->answer();
  } catch (...) {
    // If the task was cancelled, the call is over and this does nothing. Otherwise it is a bug,
    // which the group logs.
    self->connection_->session().finish(*self->stream_, {RpcCode::internal, "the handler failed"});
    throw;
  }
}

Task<void> ServerCall::answer() {
  Session& session = connection_->session();
  std::string request = session.take(*stream_);
  RpcStatus status;
  if (method_.unary) {
    RpcReply reply = co_await method_.unary(*this, std::move(request));
    status = std::move(reply.status);
    if (status.ok()) session.send(*stream_, reply.body);
  } else {
    status = co_await method_.streaming(*this, std::move(request));
  }
  session.finish(*stream_, std::move(status));
}

Task<bool> ServerCall::write(std::string message) {
  connection_->session().send(*stream_, message);
  while (!stream_->over() && stream_->unsent() > kMaxUnsent) {
    co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return !stream_->over();
}

}  // namespace plim::net::rpc
