// Clients and servers take the time from the clock they are given.
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::RawSocket;
using testing::ScriptedServer;
using testing::TestServer;

Task<Reply> greet(Request) {
  co_return testing::text("hello");
}

Task<void> ask(std::shared_ptr<Client> client, std::optional<Result<Response>>& out) {
  Request request{.path = "/"};
  out = co_await client->send(std::move(request));
}

TEST(ClientClock, closes_pooled_connections_that_were_idle_too_long) {
  TestServer server({testing::get("/", greet)});
  Loop loop;
  FakeClock clock;
  auto client = *Client::create(loop.executor(), server.url(), {.idle_timeout = 90s}, clock);
  ASSERT_TRUE(run_to_end(loop, client->send({.path = "/"})));
  loop.run_ready();
  clock.advance(89s);
  loop.run_ready();
  EXPECT_EQ(server->connections(), 1u);
  clock.advance(1s);
  loop.run_ready();
  for (int i = 0; i < 10'000 && server->connections() > 0; ++i)
    std::this_thread::sleep_for(1ms);  // the server's thread has to see it
  EXPECT_EQ(server->connections(), 0u);
}

TEST(ClientClock, gives_a_request_up_when_its_time_is_over) {
  ScriptedServer server([](RawSocket& socket, int) { socket.read_all(); });
  Loop loop;
  FakeClock clock;
  auto client = *Client::create(loop.executor(), server.url(), {.connect_timeout = 60s}, clock);
  std::optional<Result<Response>> answer;
  TaskGroup group(loop.executor());
  group.spawn("ask", ask(client, answer));
  loop.run_ready();
  clock.advance(29s);
  loop.run_ready();
  EXPECT_FALSE(answer);
  clock.advance(1s);
  loop.run_ready();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, Code::timeout);
}

TEST(ClientClock, gives_a_connection_up_before_the_request_is_over) {
  ScriptedServer silent([](RawSocket& socket, int) { socket.read_all(); });  // no handshake
  Loop loop;
  FakeClock clock;
  auto client = *Client::create(loop.executor(), fmt::format("https://127.0.0.1:{}", silent.port()),
                                {.tls = {.insecure = true}, .connect_timeout = 10s}, clock);
  std::optional<Result<Response>> answer;
  TaskGroup group(loop.executor());
  group.spawn("ask", ask(client, answer));
  loop.run_ready();
  clock.advance(9s);
  loop.run_ready();
  EXPECT_FALSE(answer);
  clock.advance(1s);
  loop.run_ready();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, Code::timeout);
}

TEST(ServerClock, dates_answers_and_closes_idle_connections) {
  Loop loop;
  FakeClock clock;
  ServerOptions options{.idle_timeout = 120s};
  auto server = *Server::listen({loop.executor()}, options, {testing::get("/", greet)}, clock);
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  loop.run_ready();
  EXPECT_THAT(socket.read_until("hello"), HasSubstr("Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"));
  clock.advance(119s);
  loop.run_ready();
  EXPECT_EQ(server->connections(), 1u);
  clock.advance(1s);
  loop.run_ready();
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(socket.read_all(), "");
}

}  // namespace
}  // namespace plim::net
