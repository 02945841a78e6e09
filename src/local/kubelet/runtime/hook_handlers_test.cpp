#include "local/kubelet/runtime/hook_handlers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/loop.hpp"

namespace plim::local::kubelet {
namespace {

constexpr std::chrono::milliseconds kLong{10'000};

// A port of loopback that accepts connections.
struct OpenPort {
  OpenPort() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    PLIM_ASSERT(::bind(fd.get(), general, size) == 0 && ::listen(fd.get(), 256) == 0);
    PLIM_ASSERT(::getsockname(fd.get(), general, &size) == 0);
    number = ntohs(address.sin_port);
  }

  Fd fd;
  int number = 0;
};

// One after the other on one loop, so that what is left of one attempt meets the next, which uses
// the same memory.
Task<std::vector<HandlerOutcome>> connect_often(int port,
                                                std::vector<std::chrono::milliseconds> timeouts) {
  std::vector<HandlerOutcome> out;
  for (const std::chrono::milliseconds timeout : timeouts) {
    json::value handler{{"tcpSocket", {{"port", port}}}};
    HandlerTarget target{.pod_ip = "127.0.0.1", .container = json::object(), .id = "c"};
    out.push_back(co_await run_handler(std::move(handler), std::move(target), timeout));
  }
  co_return out;
}

std::vector<HandlerOutcome> connect_to(int port, std::vector<std::chrono::milliseconds> timeouts) {
  Loop loop;
  return run_to_end(loop, connect_often(port, std::move(timeouts)));
}

TEST(HookHandlers, connect_to_a_port_that_listens_only) {
  const OpenPort port;
  EXPECT_TRUE(connect_to(port.number, {kLong})[0].success);
  EXPECT_EQ(connect_to(1, {kLong})[0].output, "dial tcp 127.0.0.1:1: connect: Connection refused");
}

// The callback of a timer that has expired comes after the connection is made.
TEST(HookHandlers, survive_a_timeout_at_the_moment_of_the_connection) {
  const OpenPort port;
  std::vector<std::chrono::milliseconds> timeouts;
  for (int i = 0; i < 50; ++i)
    timeouts.insert(timeouts.end(), {std::chrono::milliseconds(0), kLong});
  const std::vector<HandlerOutcome> outcomes = connect_to(port.number, timeouts);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_TRUE(outcomes[i].success || timeouts[i] != kLong) << i << outcomes[i].output;
}

}  // namespace
}  // namespace plim::local::kubelet
