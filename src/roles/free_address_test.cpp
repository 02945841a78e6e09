#include "roles/free_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fd.hpp"

namespace plim::roles {
namespace {

constexpr const char* kHost = "127.71.13.5";  // a loopback address that no other test uses

struct Listener {
  Fd socket;
  int port = 0;
};

Listener listen_somewhere() {
  Listener out{.socket = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, kHost, &address.sin_addr), 1);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(out.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(out.socket.get(), 1), 0);
  EXPECT_EQ(::getsockname(out.socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  out.port = ntohs(address.sin_port);
  return out;
}

TEST(FreeAddress, is_not_a_port_in_use) {
  Listener other = listen_somewhere();
  const std::string taken = fmt::format("{}:{}", kHost, other.port);
  EXPECT_NE(hold_free_address(kHost, other.port).text, taken);
  other.socket.reset();
  EXPECT_EQ(hold_free_address(kHost, other.port).text, taken);
}

TEST(FreeAddress, is_given_out_once_even_if_not_yet_in_use) {
  const int port = listen_somewhere().port;
  std::optional<HeldAddress> first = hold_free_address(kHost, port);
  const std::string text = first->text;
  EXPECT_EQ(text, fmt::format("{}:{}", kHost, port));
  EXPECT_NE(hold_free_address(kHost, port).text, text);
  first.reset();
  EXPECT_EQ(hold_free_address(kHost, port).text, text);
}

}  // namespace
}  // namespace plim::roles
