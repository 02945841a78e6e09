#include <cerrno>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include "base/event.hpp"
#include "net/rpc.hpp"
#include "net/rpc/connection.hpp"
#include "net/rpc/listener.hpp"

namespace plim::net::rpc {
namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

// For calls that servers refuse before handling them: several servers in a row may be ending.
constexpr int kAttempts = 16;

// A call on a connection; a unary call is a stream of one message.
class ClientCall final : public RpcReader {
 public:
  ClientCall(ConnectionPtr connection, StreamPtr stream, Clock& clock,
             RpcClock::time_point deadline)
      : connection_(std::move(connection)),
        stream_(std::move(stream)),
        clock_(clock),
        deadline_(deadline),
        changed_(connection_->executor()) {
    stream_->on_change = [this] { changed_.notify(); };
  }

  ~ClientCall() override {
    stream_->on_change = nullptr;
    connection_->session().cancel(*stream_, {RpcCode::cancelled, "cancelled by the caller"});
  }

  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  Task<bool> next(std::string& message) override {
    while (stream_->messages.empty() && !stream_->over()) {
      if (deadline_ == RpcClock::time_point::max()) {
        co_await changed_.wait();
        continue;
      }
      const bool in_time = co_await changed_.wait_until(clock_, deadline_);
      if (!in_time && stream_->messages.empty())
        connection_->session().cancel(*stream_, {RpcCode::deadline_exceeded, "deadline exceeded"});
    }
    if (stream_->messages.empty()) {
      status_ = stream_->verdict();
      co_return false;
    }
    message = connection_->session().take(*stream_);
    co_return true;
  }

  const RpcStatus& status() const override { return status_; }

  bool refused() const { return stream_->refused(); }

 private:
  ConnectionPtr connection_;
  StreamPtr stream_;
  Clock& clock_;
  RpcClock::time_point deadline_;
  Event changed_;
  RpcStatus status_;
};

// What open() returns without a connection.
class FailedCall final : public RpcReader {
 public:
  explicit FailedCall(RpcStatus status) : status_(std::move(status)) {}

  Task<bool> next(std::string&) override { co_return false; }

  const RpcStatus& status() const override { return status_; }

 private:
  RpcStatus status_;
};

class UnixChannel final : public Channel, public std::enable_shared_from_this<UnixChannel> {
 public:
  UnixChannel(Executor loop, std::string path, RpcLimits limits, RpcMetadata metadata, Clock& clock)
      : loop_(std::move(loop)),
        path_(std::move(path)),
        limits_(limits),
        metadata_(std::move(metadata)),
        clock_(clock) {}

  ~UnixChannel() override { close(); }

  UnixChannel(const UnixChannel&) = delete;
  UnixChannel& operator=(const UnixChannel&) = delete;

  Task<RpcReply> call(std::string method, std::string request,
                      RpcClock::duration deadline) override {
    auto self = shared_from_this();
    auto until = deadline_after(clock_.steady(), deadline);
    for (int attempt = 1;; ++attempt) {
      RpcReply reply;
      reply.status = co_await connect(until);
      if (!reply.status.ok()) co_return reply;
      std::unique_ptr<ClientCall> call = begin(method, request, until);
      if (!call) continue;
      std::string extra;
      bool answered = co_await call->next(reply.body);
      bool more = answered;
      if (answered) more = co_await call->next(extra);
      if (call->refused() && attempt < kAttempts) continue;
      reply.status = call->status();
      if (more) reply.status = {RpcCode::internal, "more than one message in the response"};
      if (!answered && reply.status.ok())
        reply.status = {RpcCode::internal, "no message in the response"};
      co_return reply;
    }
  }

  Task<std::unique_ptr<RpcReader>> open(std::string method, std::string request,
                                        RpcClock::duration deadline) override {
    auto self = shared_from_this();
    auto until = deadline_after(clock_.steady(), deadline);
    for (;;) {
      RpcStatus status = co_await connect(until);
      if (!status.ok()) co_return std::make_unique<FailedCall>(std::move(status));
      std::unique_ptr<RpcReader> reader = begin(method, request, until);
      if (reader) co_return reader;
    }
  }

  void close() override {
    const RpcStatus why{RpcCode::cancelled, "the channel was closed"};
    if (auto newest = std::exchange(connection_, nullptr)) newest->close(why);
    for (const ConnectionPtr& older : std::exchange(retired_, {})) older->close(why);
  }

 private:
  // Null if the connection has used up its stream IDs; connect again.
  std::unique_ptr<ClientCall> begin(const std::string& method, const std::string& request,
                                    RpcClock::time_point until) {
    const auto timeout =
        until == RpcClock::time_point::max() ? kNoDeadline : until - clock_.steady();
    StreamPtr stream = connection_->session().request(method, request, timeout, metadata_);
    if (stream->id < 0) return nullptr;
    return std::make_unique<ClientCall>(connection_, std::move(stream), clock_, until);
  }

  // After success, connection_ accepts calls. connect(2) on a unix socket does not wait: it
  // succeeds, fails, or returns EAGAIN if the backlog is full, which Asio's async_connect treats as
  // success.
  Task<RpcStatus> connect(RpcClock::time_point until) {
    while (!connection_ || !connection_->usable()) {
      auto endpoint = unix_endpoint(path_);
      if (!endpoint) co_return RpcStatus{RpcCode::invalid_argument, endpoint.error().message};
      boost::system::error_code error;
      UnixSocket socket(loop_);
      socket.open(UnixProtocol(), error);
      if (!error) socket.non_blocking(true, error);
      if (!error && ::connect(socket.native_handle(), endpoint->data(),
                              static_cast<socklen_t>(endpoint->size())) != 0)
        error.assign(errno, boost::system::system_category());
      if (!error) {
        use(Connection::start(std::move(socket), Session::Role::client, limits_, {}));
        break;
      }
      if (error != asio::error::would_block)
        co_return RpcStatus{RpcCode::unavailable, fmt::format("{}: {}", path_, error.message())};
      if (clock_.steady() >= until)
        co_return RpcStatus{RpcCode::deadline_exceeded,
                            fmt::format("{}: the server accepts no connections", path_)};
      co_await clock_.sleep(5ms);
    }
    co_return RpcStatus{};
  }

  void use(ConnectionPtr connection) {
    std::erase_if(retired_, [](const ConnectionPtr& older) { return older->closed(); });
    if (connection_ && !connection_->closed()) retired_.push_back(std::move(connection_));
    connection_ = std::move(connection);
  }

  Executor loop_;
  std::string path_;
  RpcLimits limits_;
  RpcMetadata metadata_;
  Clock& clock_;
  ConnectionPtr connection_;            // the newest one; new calls use it
  std::vector<ConnectionPtr> retired_;  // the peer sent GOAWAY; their calls continue
};

}  // namespace
}  // namespace plim::net::rpc

namespace plim::net {

std::shared_ptr<Channel> Channel::unix_socket(Executor loop, std::string path, RpcLimits limits,
                                              RpcMetadata metadata, Clock& clock) {
  return std::make_shared<rpc::UnixChannel>(std::move(loop), std::move(path), limits,
                                            std::move(metadata), clock);
}

}  // namespace plim::net
