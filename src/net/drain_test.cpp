#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// A handler that waits until the test releases it.
struct Gate {
  std::atomic<int> entered = 0;
  std::atomic<bool> open = false;

  void wait_for_entry() {
    for (int seen = entered; seen == 0; seen = entered) entered.wait(seen);
  }
};

Task<Reply> pass(Gate& gate) {
  ++gate.entered;
  gate.entered.notify_all();
  while (!gate.open) co_await system_clock().sleep(1ms);
  co_return text("done");
}

Route gated(Gate& gate) {
  return get("/", [&gate](Request) { return pass(gate); });
}

TEST(Drain, lets_requests_under_way_end_and_closes_idle_connections) {
  Gate gate;
  TestServer server({gated(gate)});
  RawSocket idle(server.port());
  RawSocket busy(server.port());
  busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  gate.wait_for_entry();
  Loop loop;
  std::thread opener([&] {
    EXPECT_EQ(idle.read_all(), "");  // closed although the other connection is busy
    gate.open = true;
  });
  run_to_end(loop, server->drain(10s));
  opener.join();
  EXPECT_EQ(server->connections(), 0u);
  std::string answer = busy.read_all();
  EXPECT_THAT(answer, ::testing::HasSubstr("done"));
  EXPECT_THAT(answer, ::testing::HasSubstr("Connection: close"));
}

TEST(Drain, cancels_what_outlasts_the_grace_period) {
  Gate gate;
  TestServer server({gated(gate)});
  RawSocket busy(server.port());
  busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  gate.wait_for_entry();
  Loop loop;
  run_to_end(loop, server->drain(20ms));
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(busy.read_all(), "");
}

TEST(Drain, works_from_the_servers_own_loop) {
  Loop loop;
  auto server = Server::listen({loop.executor()}, {}, {}).value();
  run_to_end(loop, server->drain(1s));
  EXPECT_EQ(server->connections(), 0u);
}

}  // namespace
}  // namespace plim::net
