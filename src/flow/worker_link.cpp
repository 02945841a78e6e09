#include "flow/worker_link.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/log.hpp"

namespace plim::flow {
namespace {

namespace asio = boost::asio;

class SocketLink final : public WorkerLink, public std::enable_shared_from_this<SocketLink> {
 public:
  SocketLink(const Executor& loop, Fd socket, Handlers handlers)
      : socket_(loop, socket.release()), handlers_(std::move(handlers)) {
    ::fcntl(socket_.native_handle(), F_SETFL, O_NONBLOCK);
  }

  void send(std::string_view bytes) override {
    if (closed_) return;
    unsent_.append(bytes);
    if (!writing_) write_some();
  }

  void close() override {
    closed_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  void wait_to_read() {
    socket_.async_wait(socket_.wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error && !self->closed_ && self->read_some()) self->wait_to_read();
                       });
  }

 private:
  // False: the stream has ended.
  bool read_some() {
    char buffer[64 * 1024];
    ssize_t n = ::recv(socket_.native_handle(), buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return end();
    splitter_.feed({buffer, static_cast<std::size_t>(n)});
    while (!closed_) {
      auto frame = splitter_.next();
      if (!frame) {
        log::warn("flow", "a worker sent an invalid frame", {{"error", frame.error()}});
        return end();
      }
      if (!*frame) return true;
      handlers_.frame(**frame);
    }
    return false;
  }

  bool end() {
    close();
    handlers_.closed();
    return false;
  }

  void write_some() {
    while (!unsent_.empty()) {
      ssize_t n = ::send(socket_.native_handle(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return;  // read_some() reports it
      if (n < 0) return wait_to_write();
      unsent_.erase(0, static_cast<std::size_t>(n));
    }
  }

  void wait_to_write() {
    writing_ = true;
    socket_.async_wait(socket_.wait_write,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         self->writing_ = false;
                         if (!error && !self->closed_) self->write_some();
                       });
  }

  asio::posix::stream_descriptor socket_;
  Handlers handlers_;
  FrameSplitter splitter_;
  std::string unsent_;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<WorkerLink> WorkerLink::start(const Executor& loop, Fd socket, Handlers handlers) {
  auto link = std::make_shared<SocketLink>(loop, std::move(socket), std::move(handlers));
  link->wait_to_read();
  return link;
}

}  // namespace plim::flow
