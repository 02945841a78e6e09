// The client against scripted servers.
#include "net/client.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/epoll.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/gzip.hpp"
#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(Client, reuses_a_connection) {
  std::atomic<int> connections = 0;
  ScriptedServer server([&](RawSocket& socket, int) {
    ++connections;
    while (!socket.read_until("\r\n\r\n").empty()) socket.send(kOk);
  });
  TestClient client(server.url());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/").value().body, "ok");
  EXPECT_EQ(connections, 1);
  client.client->close_idle();
}

// Whether the reactor waits for a socket to become writable: see epoll in proc(5).
bool wants_to_hear_of_room_to_write() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      unsigned fd = 0, events = 0;
      if (std::sscanf(line.c_str(), "tfd: %u events: %x", &fd, &events) == 2 &&
          (events & EPOLLOUT) != 0)
        return true;
    }
  }
  return false;
}

TEST(Client, is_woken_only_by_received_bytes) {
  ScriptedServer server([](RawSocket& socket, int) {
    while (!socket.read_until("\r\n\r\n").empty()) socket.send(kOk);
  });
  TestClient client(server.url());
  ASSERT_TRUE(client.get("/"));
  EXPECT_FALSE(wants_to_hear_of_room_to_write());
  client.client->close_idle();
}

TEST(Client, retries_a_safe_request_when_a_pooled_connection_was_closed) {
  ScriptedServer server([](RawSocket& socket, int number) {
    socket.read_until("\r\n\r\n");
    socket.send(kOk);
    // The first connection closes after its second request: only a retry of the client helps.
    if (number == 0) socket.read_until("\r\n\r\n");
  });
  TestClient client(server.url());
  ASSERT_TRUE(client.get("/"));
  auto again = client.get("/");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->body, "ok");
}

TEST(Client, does_not_retry_a_post_that_may_have_arrived) {
  std::atomic<int> posts = 0;
  ScriptedServer server([&](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    socket.send(kOk);
    if (!socket.read_until("\r\n\r\n").empty()) ++posts;
  });
  TestClient client(server.url());
  ASSERT_TRUE(client.get("/"));
  auto answer = client.post("/", "");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_EQ(posts, 1);
}

std::vector<Request> numbered_posts(int count) {
  std::vector<Request> out;
  for (int i = 0; i < count; ++i)
    out.push_back({.method = "POST", .path = "/" + std::to_string(i), .body = "body"});
  return out;
}

std::string bodies(const std::vector<Result<Response>>& responses) {
  std::string out;
  for (const auto& response : responses)
    out += (response ? response->body : std::string(reason(response.error().code))) + " ";
  return out;
}

std::string ok_with(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

TEST(Client, pipelined_requests_are_sent_before_any_response_arrives) {
  std::atomic<int> connections = 0;
  ScriptedServer server([&](RawSocket& socket, int) {
    ++connections;
    std::string received;
    for (int i = 0; i < 3; ++i) received += socket.read_until("body");
    EXPECT_THAT(received, ::testing::ContainsRegex("POST /0.*POST /1.*POST /2"));
    socket.send(ok_with("a"));
    socket.send("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n");
    socket.send("b\r\n0\r\n\r\n" + ok_with("c"));
    socket.read_until("\r\n\r\n");
    socket.send(kOk);
  });
  TestClient client(server.url());
  EXPECT_EQ(bodies(run_to_end(client.loop, client.client->send_pipelined(numbered_posts(3)))),
            "a b c ");
  EXPECT_EQ(client.get("/").value().body, "ok");
  EXPECT_EQ(connections, 1);
  client.client->close_idle();
}

TEST(Client, pipelined_requests_fail_from_where_the_connection_ends) {
  const std::string last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nb";
  ScriptedServer server([&](RawSocket& socket, int number) {
    for (int i = 0; i < 3; ++i) socket.read_until("body");
    if (number == 0) socket.send(ok_with("a") + last);
    if (number == 1) socket.send(ok_with("a") + ok_with("longer").substr(0, 40));
    if (number == 2) socket.send("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n");
  });
  TestClient client(server.url());
  const auto send = [&] {
    return run_to_end(client.loop, client.client->send_pipelined(numbered_posts(3)));
  };
  EXPECT_EQ(bodies(send()), "a b ServiceUnavailable ");
  EXPECT_EQ(bodies(send()), "a ServiceUnavailable ServiceUnavailable ");
  EXPECT_EQ(bodies(send()), "BadRequest BadRequest BadRequest ");
  EXPECT_EQ(bodies(run_to_end(client.loop, client.client->send_pipelined({}))), "");
}

TEST(Client, pipelined_requests_share_one_timeout) {
  ScriptedServer server([&](RawSocket& socket, int) {
    for (int i = 0; i < 3; ++i) socket.read_until("body");
    socket.send(ok_with("a"));
    socket.read_some();  // until the client closes
  });
  TestClient client(server.url());
  EXPECT_EQ(bodies(run_to_end(client.loop, client.client->send_pipelined(
                                               numbered_posts(3), {.timeout = Millis(100)}))),
            "a Timeout Timeout ");
}

TEST(Client, skips_connections_closed_while_idle) {
  std::atomic<int> connections = 0;
  ScriptedServer server([&](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    socket.send(kOk);
    ++connections;
    connections.notify_all();
  });
  TestClient client(server.url());
  ASSERT_TRUE(client.get("/"));
  connections.wait(0);
  EXPECT_TRUE(client.post("/", "x"));
}

TEST(Client, reads_every_kind_of_body) {
  ScriptedServer server([](RawSocket& socket, int number) {
    socket.read_until("\r\n\r\n");
    switch (number) {
      case 0:
        return socket.send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
            "chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
      case 1:
        return socket.send("HTTP/1.1 200 OK\r\n\r\nuntil close");
      case 2: {
        std::string zipped = gzip("zipped text");
        return socket.send(
            fmt::format("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "
                        "{}\r\n\r\n",
                        zipped.size()) +
            zipped);
      }
      case 3:
        return socket.send("HTTP/1.1 204 No Content\r\n\r\n");
      default:
        return socket.send("HTTP/1.0 301 Moved\r\nLocation: /elsewhere\r\n\r\n");
    }
  });
  TestClient client(server.url());
  auto body = [&] {
    client.client->close_idle();
    auto answer = client.get("/");
    return answer ? fmt::format("{} {}", answer->status, answer->body) : answer.error().message;
  };
  EXPECT_EQ(body(), "200 abcde");
  EXPECT_EQ(body(), "200 until close");
  EXPECT_EQ(body(), "200 zipped text");
  EXPECT_EQ(body(), "204 ");
  EXPECT_EQ(body(), "301 ");
}

TEST(Client, fails_clearly) {
  ScriptedServer server([](RawSocket& socket, int number) {
    socket.read_until("\r\n\r\n");
    if (number == 0) socket.send("I am no HTTP server\r\n\r\n");
    if (number == 1) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    if (number == 2) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nab");
    if (number == 3) socket.send("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
    if (number == 4) socket.read_all();
  });
  TestClient client(server.url());
  auto failure = [&](CallOptions options) {
    auto answer = client.send(Request{.path = "/p"}, options);
    return answer ? Code::unknown : answer.error().code;
  };
  EXPECT_EQ(failure({}), Code::bad_request);
  EXPECT_EQ(failure({}), Code::unavailable);
  EXPECT_EQ(failure({.max_body = 1000}), Code::too_large);
  EXPECT_EQ(failure({}), Code::too_large);
  EXPECT_EQ(failure({.timeout = 50ms}), Code::timeout);
}

TEST(Client, names_the_address_when_it_cannot_connect) {
  std::uint16_t port = ScriptedServer([](RawSocket&, int) {}).port();
  TestClient client(fmt::format("http://localhost:{}", port));
  auto answer = client.get("/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr(fmt::format("localhost:{}", port)), HasSubstr("refused")));
  TestClient lost("unix:///nonexistent/socket");
  auto no_socket = lost.get("/");
  ASSERT_FALSE(no_socket);
  EXPECT_THAT(no_socket.error().message, HasSubstr("/nonexistent/socket"));
}

TEST(Client, rejects_requests_with_invalid_characters) {
  TestClient client("http://127.0.0.1:1");
  EXPECT_EQ(client.send(Request{.path = "/a b"}).error().code, Code::invalid);
  EXPECT_EQ(client.send(Request{.path = "no-slash"}).error().code, Code::invalid);
  EXPECT_EQ(client.send(Request{.path = "/", .headers = {{"X", "a\r\nY: b"}}}).error().code,
            Code::invalid);
  EXPECT_EQ(client.send(Request{.method = "GET /", .path = "/"}).error().code, Code::invalid);
}

TEST(Client, asks_before_it_sends_a_large_body) {
  std::string large(2 << 20, 'x');
  ScriptedServer server([&](RawSocket& socket, int number) {
    std::string head = socket.read_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Expect: 100-continue"));
    if (number == 0) return socket.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    socket.send("HTTP/1.1 100 Continue\r\n\r\n");
    std::string body = socket.read_until("xE");
    socket.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{}", body.size()));
  });
  TestClient client(server.url());
  EXPECT_EQ(client.post("/", large + "E").value().status, 413);
  EXPECT_EQ(client.post("/", large + "E").value().body, "2097153");
}

Task<void> get_and_forget(std::shared_ptr<Client> client, std::optional<Code>& outcome) {
  Request request;
  request.path = "/";
  auto answer = co_await client->send(std::move(request));
  if (!answer) outcome = answer.error().code;
}

TEST(Client, a_cancelled_call_closes_its_connection) {
  std::atomic<bool> arrived = false, closed = false;
  ScriptedServer server([&](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    arrived = true;
    closed = socket.read_all().empty();
  });
  {
    TestClient client(server.url());
    TaskGroup group(client.loop.executor());
    std::optional<Code> outcome;
    group.spawn("call", get_and_forget(client.client, outcome));
    while (!arrived) client.loop.run_ready();
    run_to_end(client.loop, group.stop());
    EXPECT_EQ(outcome, Code::cancelled);
  }
  while (!closed) std::this_thread::yield();
}

TEST(Client, falls_back_to_the_next_address) {
  // "localhost" is ::1 first on most machines; only 127.0.0.1 listens.
  ScriptedServer server([](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    socket.send(kOk);
  });
  TestClient client(fmt::format("http://localhost:{}", server.port()));
  EXPECT_TRUE(client.get("/"));
}

}  // namespace
}  // namespace plim::net
