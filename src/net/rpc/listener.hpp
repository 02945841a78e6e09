// A listening unix socket with its file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>

#include <boost/asio/steady_timer.hpp>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/rpc/connection.hpp"

namespace plim::net::rpc {

// Fails with Code::invalid if the path does not fit into a socket address.
Result<UnixProtocol::endpoint> unix_endpoint(const std::string& path);

// Shared, since a pending accept keeps it alive. Belongs to one loop.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  using OnAccept = std::function<void(UnixSocket)>;

  static Result<std::shared_ptr<Listener>> open(Executor loop, std::string path, unsigned mode);
  Listener(Executor loop, std::string path);

  void start(OnAccept on_accept);
  // Stops listening and removes the file if it is still ours.
  void close();

 private:
  Result<void> bind(unsigned mode);
  void accept();
  void pause_after(const boost::system::error_code& error);

  std::string path_;
  UnixProtocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  OnAccept on_accept_;
  dev_t device_ = 0;  // of the file: another server may have replaced it
  ino_t inode_ = 0;
  log::Throttle throttle_;
};

}  // namespace plim::net::rpc
