#include "roles/free_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>

#include <fmt/format.h>

namespace plim::roles {
namespace {

constexpr int kPortsToTry = 100;

bool is_free(const std::string& host, int port) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (!socket || ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return false;
  const int reuse = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Binds an abstract socket. Like a port it belongs to the network namespace, and the kernel removes
// it when the process ends. Returns nothing if another process has it.
std::optional<Fd> mark_as_held(const std::string& address) {
  Fd mark(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = fmt::format("plimsoll-address/{}", address);
  const std::size_t size = std::min(text.size(), sizeof name.sun_path - 1);
  std::memcpy(name.sun_path + 1, text.data(), size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  if (mark && ::bind(mark.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0 &&
      errno == EADDRINUSE)
    return std::nullopt;
  return mark;
}

}  // namespace

HeldAddress hold_free_address(const std::string& host, int port) {
  for (int i = 0; i < kPortsToTry; ++i) {
    std::string address = fmt::format("{}:{}", host, port + i);
    std::optional<Fd> mark = mark_as_held(address);
    // Check after reserving: the last holder may listen by now.
    if (mark && is_free(host, port + i)) return {std::move(address), std::move(*mark)};
  }
  return {.text = fmt::format("{}:{}", host, port)};
}

}  // namespace plim::roles
