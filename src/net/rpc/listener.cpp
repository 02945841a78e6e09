#include "net/rpc/listener.hpp"

#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace plim::net::rpc {
namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kPause{100};

// Removes a socket file that no process listens on. Fails for anything else at that path.
Result<void> remove_stale(const Executor& loop, const std::string& path) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno(errno, path);
  }
  if (!S_ISSOCK(file.st_mode))
    return fail(Code::already_exists, fmt::format("{}: exists and is not a socket", path));
  ErrorCode error;
  UnixProtocol::socket probe(loop);
  probe.open(UnixProtocol(), error);
  if (!error) probe.non_blocking(true, error);
  if (!error) probe.connect(UnixProtocol::endpoint(path), error);
  if (error == asio::error::connection_refused) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, path);
    return {};
  }
  if (!error || error == asio::error::would_block)
    return fail(Code::already_exists, fmt::format("{}: another process listens there", path));
  return fail_errno(error.value(), path);
}

}  // namespace

Result<UnixProtocol::endpoint> unix_endpoint(const std::string& path) {
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > kLongest)
    return fail(Code::invalid, fmt::format("socket path has {} bytes, 1 to {} fit: '{}'",
                                           path.size(), kLongest, path));
  return UnixProtocol::endpoint(path);
}

Result<std::shared_ptr<Listener>> Listener::open(Executor loop, std::string path, unsigned mode) {
  PLIM_CHECK(unix_endpoint(path));
  PLIM_CHECK(remove_stale(loop, path));
  auto listener = std::make_shared<Listener>(std::move(loop), std::move(path));
  PLIM_CHECK(listener->bind(mode));
  return listener;
}

Listener::Listener(Executor loop, std::string path)
    : path_(std::move(path)), acceptor_(loop), pause_(loop) {}

// No client can connect before listen(), so the mode is set in time.
Result<void> Listener::bind(unsigned mode) {
  ErrorCode error;
  acceptor_.open(UnixProtocol(), error);
  if (!error) acceptor_.bind(UnixProtocol::endpoint(path_), error);
  if (error) return fail_errno(error.value(), fmt::format("cannot bind {}", path_));
  struct stat file{};
  if (::chmod(path_.c_str(), mode) != 0 || ::lstat(path_.c_str(), &file) != 0)
    return fail_errno(errno, path_);
  device_ = file.st_dev;
  inode_ = file.st_ino;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail_errno(error.value(), fmt::format("cannot listen on {}", path_));
  return {};
}

void Listener::start(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  accept();
}

void Listener::close() {
  if (!acceptor_.is_open()) return;
  on_accept_ = nullptr;
  pause_.cancel();
  struct stat file{};
  bool ours = ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
  if (ours) ::unlink(path_.c_str());
  ErrorCode ignored;
  acceptor_.close(ignored);
}

void Listener::accept() {
  auto done = [self = shared_from_this()](const ErrorCode& error, UnixSocket socket) {
    if (!self->on_accept_) return;
    if (error) return self->pause_after(error);
    self->on_accept_(std::move(socket));
    if (self->on_accept_) self->accept();
  };
  acceptor_.async_accept(std::move(done));
}

// Out of descriptors or memory: the connection stays in the backlog, and retrying at once would
// spin.
void Listener::pause_after(const ErrorCode& error) {
  throttle_.write(log::Level::warn, "rpc", "cannot accept a connection",
                  {{"socket", path_}, {"error", error.message()}});
  pause_.expires_after(kPause);
  pause_.async_wait([self = shared_from_this()](const ErrorCode&) {
    if (self->on_accept_) self->accept();
  });
}

}  // namespace plim::net::rpc
