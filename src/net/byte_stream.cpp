#include "net/byte_stream.hpp"

#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace plim::net {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kReadSize = 16 << 10;
constexpr std::size_t kMostGathered = 64 << 10;

class PlainStream final : public ByteStream {
 public:
  using ByteStream::ByteStream;

  Step try_read(std::span<char> into) override {
    if (is_closed()) return failed(EBADF);
    ssize_t n = 0;
    do n = ::recv(socket_.native_handle(), into.data(), into.size(), 0);
    while (n < 0 && errno == EINTR);
    if (n > 0) return {Step::State::done, static_cast<std::size_t>(n)};
    if (n == 0) return {Step::State::end};
    return errno == EAGAIN ? Step{Step::State::wants_read} : failed(errno);
  }

  Step try_write(std::string_view bytes) override {
    if (is_closed()) return failed(EBADF);
    ssize_t n = 0;
    do n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n >= 0) return {Step::State::done, static_cast<std::size_t>(n)};
    return errno == EAGAIN ? Step{Step::State::wants_write} : failed(errno);
  }

 private:
  Step failed(int error) {
    errno_ = error;
    return {Step::State::failed};
  }

  Error last_error() const override {
    Error error = fail_errno(errno_, "connection lost");
    error.code = Code::unavailable;
    return error;
  }

  int errno_ = 0;
};

class RawBytes final : public RawStream {
 public:
  RawBytes(std::shared_ptr<ByteStream> stream, InputBuffer received)
      : stream_(std::move(stream)), received_(std::move(received)) {}

  ~RawBytes() override { stream_->close(); }

  Task<Result<std::string>> read() override {
    if (received_.empty()) {
      PLIM_CO_CHECK(co_await stream_->wait_readable());
      PLIM_CO_TRY(bool more, co_await read_more(*stream_, received_));
      if (!more) co_return std::string();
    }
    std::string out(received_.data());
    received_.consume(out.size());
    received_.release_if_empty();
    co_return out;
  }

  Task<Result<void>> write(std::string bytes) override {
    PLIM_CO_CHECK(co_await stream_->write(bytes));
    co_return Result<void>();
  }

  void close() override { stream_->close(); }

 private:
  std::shared_ptr<ByteStream> stream_;
  InputBuffer received_;
};

}  // namespace

ByteStream::ByteStream(Socket socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

Task<Result<std::size_t>> ByteStream::read(std::span<char> into) {
  for (;;) {
    Step step = try_read(into);
    if (step.state == Step::State::done) co_return step.bytes;
    if (step.state == Step::State::end) co_return std::size_t{0};
    PLIM_CO_CHECK(co_await wait_for(step.state));
  }
}

Task<Result<void>> ByteStream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    Step step = try_write(bytes);
    if (step.state == Step::State::done) {
      bytes.remove_prefix(step.bytes);
      continue;
    }
    if (step.state == Step::State::end) co_return fail(Code::unavailable, "connection closed");
    PLIM_CO_CHECK(co_await wait_for(step.state));
  }
  co_return Result<void>();
}

Task<Result<void>> ByteStream::wait_readable() {
  if (has_buffered()) co_return Result<void>();
  PLIM_CO_CHECK(co_await wait_for(Step::State::wants_read));
  co_return Result<void>();
}

Task<Result<void>> ByteStream::wait_for(Step::State state) {
  if (state == Step::State::failed) co_return last_error();
  if (interrupted_) co_return *interrupted_;
  auto what = state == Step::State::wants_read ? Socket::wait_read : Socket::wait_write;
  auto [error] = co_await socket_.async_wait(what, asio::as_tuple(asio::use_awaitable));
  if (interrupted_) co_return *interrupted_;
  if (error) co_return fail(Code::cancelled, "connection closed while waiting for it");
  co_return Result<void>();
}

void ByteStream::wake_at(std::size_t bytes) {
  if (closed_) return;
  // Large values would wait for bytes that the peer cannot send before we have read.
  const int value = static_cast<int>(std::min(bytes, kMostGathered));
  ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
}

bool ByteStream::is_quiet() {
  if (closed_ || has_buffered()) return false;
  char byte = 0;
  return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

void ByteStream::interrupt(Error reason) {
  interrupted_ = std::move(reason);
  boost::system::error_code ignored;
  if (!closed_) socket_.cancel(ignored);
}

void ByteStream::send_end() {
  if (!closed_) ::shutdown(socket_.native_handle(), SHUT_WR);
}

Task<void> ByteStream::discard_rest() {
  std::array<char, 4096> scratch;
  while (!closed_) {
    ssize_t n = ::recv(socket_.native_handle(), scratch.data(), scratch.size(), 0);
    if (n > 0) continue;
    if (n == 0 || errno != EAGAIN) co_return;
    Result<void> ready = co_await wait_for(Step::State::wants_read);
    if (!ready) co_return;
  }
}

void ByteStream::close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void ByteStream::describe_peer(Peer& peer) const {
  int fd = const_cast<Socket&>(socket_).native_handle();
  boost::system::error_code error;
  auto endpoint = socket_.remote_endpoint(error);
  int family = error ? AF_UNSPEC : endpoint.protocol().family();
  if (family == AF_UNIX) {
    peer.address = "unix";
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0)
      peer.credentials = std::pair(credentials.uid, credentials.pid);
    return;
  }
  if (family != AF_INET && family != AF_INET6) return;
  asio::ip::tcp::endpoint address;
  std::memcpy(address.data(), endpoint.data(), std::min(endpoint.size(), address.capacity()));
  const char* format = family == AF_INET6 ? "[{}]:{}" : "{}:{}";
  peer.address = fmt::format(fmt::runtime(format), address.address().to_string(), address.port());
}

std::shared_ptr<ByteStream> make_plain_stream(Socket socket) {
  return std::make_shared<PlainStream>(std::move(socket));
}

Task<Result<bool>> read_more(ByteStream& stream, InputBuffer& buffer) {
  PLIM_CO_TRY(std::size_t count, co_await stream.read(buffer.prepare(kReadSize)));
  buffer.commit(count);
  co_return count > 0;
}

std::unique_ptr<RawStream> make_raw_stream(std::shared_ptr<ByteStream> stream,
                                           InputBuffer received) {
  return std::make_unique<RawBytes>(std::move(stream), std::move(received));
}

void set_tcp_options(Socket& socket) {
  int fd = socket.native_handle();
  auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace plim::net
