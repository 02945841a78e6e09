#include "cli/free_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "base/fd.hpp"

namespace plim::cli {
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

}  // namespace

std::string free_address(const std::string& host, int port,
                         const std::function<bool(const std::string& address)>& is_promised) {
  for (int i = 0; i < kPortsToTry; ++i) {
    std::string address = fmt::format("{}:{}", host, port + i);
    if (!is_promised(address) && is_free(host, port + i)) return address;
  }
  return fmt::format("{}:{}", host, port);
}

}  // namespace plim::cli
