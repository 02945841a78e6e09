// A listening socket. For .cpp files of this folder only.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace plim::net {

// Owns the descriptor, and the file of a unix socket.
class Listener {
 public:
  // "host:port", "[::1]:port", ":port" (every address), "unix:///path".
  static Result<Listener> open(const std::string& address, unsigned socket_mode);
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int fd() const { return fd_; }

  int family() const { return family_; }

  const std::string& address() const { return address_; }

  std::uint16_t port() const { return port_; }

 private:
  Listener() = default;
  Result<void> listen_tcp(const std::string& address);
  Result<void> listen_unix(const std::string& path, unsigned mode);

  int fd_ = -1;
  int family_ = 0;
  std::string address_;
  std::uint16_t port_ = 0;
  std::string socket_path_;
};

}  // namespace plim::net
