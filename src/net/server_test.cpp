// The server against raw bytes: broken, slow, large, pipelined.
#include "net/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

#include <fmt/format.h>
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
using ::testing::Not;
using ::testing::StartsWith;

Task<Reply> echo(Request request) {
  co_return text(request.method + " " + request.path + " " + request.body);
}

std::vector<Route> echoing(RouteOptions options = {}) {
  return {{.method = "GET", .pattern = "/api/*", .handler = echo, .options = options},
          {.method = "POST", .pattern = "/api/*", .handler = echo, .options = options},
          {.method = "GET", .pattern = "/api/exact", .handler = echo}};
}

// The response to `bytes`; the server must close the connection after it.
std::string ask(TestServer& server, std::string_view bytes) {
  RawSocket socket(server.port());
  socket.send(bytes);
  return socket.read_all();
}

TEST(Server, answers_bad_requests_with_400) {
  TestServer server(echoing());
  for (std::string_view bad :
       {"nonsense\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET /api/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /api/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /api/ HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n",
        ("POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: "
         "4\r\n\r\nabcd")})
    EXPECT_THAT(ask(server, bad), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("close"))) << bad;
}

TEST(Server, rejects_unsupported_protocols_and_encodings) {
  TestServer server(echoing());
  EXPECT_THAT(ask(server, "POST /api/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"),
              StartsWith("HTTP/1.1 501 "));
  EXPECT_THAT(ask(server, "POST /api/ HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
  EXPECT_THAT(ask(server, "POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Encoding: br\r\n\r\n"),
              StartsWith("HTTP/1.1 415 "));
}

TEST(Server, rejects_large_headers_with_431) {
  TestServer server(echoing(), {.max_header = 1024});
  std::string request =
      "GET /api/ HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'x') + "\r\n\r\n";
  EXPECT_THAT(ask(server, request), StartsWith("HTTP/1.1 431 "));
}

TEST(Server, rejects_large_bodies_with_413) {
  TestServer server(echoing({.max_body = 1000}));
  std::string body(200'000, 'x');
  EXPECT_THAT(
      ask(server, "POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + body),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(server,
                  "POST /api/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "30d40\r\n" +
                      body),
              StartsWith("HTTP/1.1 413 "));
  std::string bomb = gzip(std::string(5'000'000, '0'));
  EXPECT_LT(bomb.size(), 50'000u);
  TestServer wider(echoing({.max_body = 100'000}));
  EXPECT_THAT(ask(wider, fmt::format("POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
                                     "Content-Length: {}\r\n\r\n",
                                     bomb.size()) +
                             bomb),
              StartsWith("HTTP/1.1 413 "));
}

TEST(Server, routes_by_method_and_pattern) {
  TestServer server(echoing());
  TestClient client(server.url());
  EXPECT_EQ(client.get("/none").value().status, 404);
  auto wrong_method = client.send(Request{.method = "DELETE", .path = "/api/x"}).value();
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.headers.get("Allow"), "GET, POST");
  EXPECT_EQ(client.get("/api/exact").value().status, 200);
  EXPECT_EQ(server->connections(), 1u);
}

TEST(Server, serves_pipelined_requests_in_order) {
  TestServer server(echoing());
  std::string two =
      "POST /api/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
      "GET /api/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  std::string answers = ask(server, two);
  auto first = answers.find("POST /api/1 one"), second = answers.find("GET /api/2 ");
  EXPECT_NE(first, answers.npos);
  EXPECT_NE(second, answers.npos);
  EXPECT_LT(first, second);
}

TEST(Server, answers_a_peer_that_has_closed_its_side) {
  TestServer server(echoing());
  RawSocket socket(server.port());
  socket.send("GET /api/x HTTP/1.1\r\nHost: a\r\n\r\n");
  socket.end();
  EXPECT_THAT(socket.read_all(), HasSubstr("GET /api/x"));
}

TEST(Server, speaks_http_1_0) {
  TestServer server(echoing());
  EXPECT_THAT(ask(server, "GET /api/x HTTP/1.0\r\n\r\n"),
              AllOf(HasSubstr("GET /api/x"), HasSubstr("Connection: close")));
  RawSocket socket(server.port());
  socket.send("GET /api/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(socket.read_until("\r\n\r\n"), HasSubstr("Connection: keep-alive"));
}

TEST(Server, accepts_absolute_targets) {
  TestServer server(echoing());
  EXPECT_THAT(ask(server, "GET http://a/api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /api/x"));
}

TEST(Server, slow_headers_and_bodies_run_into_408) {
  TestServer server(echoing({.body_timeout = 50ms}), {.header_timeout = 50ms});
  EXPECT_THAT(ask(server, "GET /api/x HT"), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(ask(server, "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"),
              StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(ask(server, ""), "") << "no response without a request";
}

TEST(Server, closes_idle_connections) {
  TestServer server(echoing(), {.idle_timeout = 50ms});
  RawSocket socket(server.port());
  socket.send("GET /api/x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(socket.read_all(), HasSubstr("GET /api/x"));
}

Task<Reply> huge(Request) {
  co_return text(std::string(64 << 20, 'x'));  // more than the kernel buffers for a peer
}

TEST(Server, cuts_off_a_peer_that_does_not_read_its_response) {
  Route route = get("/huge", huge);
  route.options.body_timeout = 50ms;
  TestServer server({route, get("/api/x", echo)});
  RawSocket slow(server.port());
  slow.send("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n");
  slow.read_until("\r\n\r\n");
  EXPECT_THAT(ask(server, "GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /api/x"));
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (server->connections() > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);  // no event reports that it is gone
  EXPECT_EQ(server->connections(), 0u);
}

TEST(Server, sends_100_continue_when_it_wants_the_body) {
  TestServer server(echoing({.max_body = 100}));
  RawSocket socket(server.port());
  socket.send(
      "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_EQ(socket.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("hello");
  EXPECT_THAT(socket.read_all(), HasSubstr("POST /api/x hello"));
  EXPECT_THAT(ask(server,
                  "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n"
                  "Expect: 100-continue\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), Not(HasSubstr("100 Continue"))));
}

Task<Reply> large(Request) {
  co_return text(std::string(100'000, 'x'));
}

TEST(Server, compresses_large_responses_for_clients_that_accept_it) {
  TestServer server({get("/large", large), get("/api/x", echo)});
  auto head = [&](std::string_view path, std::string_view accept) {
    return ask(server, fmt::format("GET {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                                   "Accept-Encoding: {}\r\n\r\n",
                                   path, accept))
        .substr(0, 300);
  };
  EXPECT_THAT(head("/large", "br, gzip;q=0.5"), HasSubstr("Content-Encoding: gzip"));
  EXPECT_THAT(head("/large", "gzip;q=0, br"), Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(head("/api/x", "gzip"), Not(HasSubstr("Content-Encoding")));
  auto answer = TestClient(server.url()).get("/large").value();
  EXPECT_EQ(answer.body, std::string(100'000, 'x'));
  EXPECT_FALSE(answer.headers.has("Content-Encoding"));
}

Task<Reply> says_goodbye(Request) {
  Response response = text("bye");
  response.headers.add("Connection", "close");
  co_return response;
}

TEST(Server, a_handler_may_close_the_connection) {
  TestServer server({get("/", says_goodbye)});
  std::string answer = ask(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("\r\n\r\nbye")) << answer;
}

// Opens all free descriptors of the process until destroyed.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit tight = before_;
    int next = ::dup(0);
    ::close(next);
    tight.rlim_cur = static_cast<rlim_t>(next);
    ::setrlimit(RLIMIT_NOFILE, &tight);
  }

  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Server, continues_accepting_after_it_ran_out_of_descriptors) {
  TestServer server(echoing());
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  {
    NoDescriptors none;
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::this_thread::sleep_for(30ms);  // no event reports that accept has failed
    EXPECT_EQ(server->connections(), 0u);
  }
  RawSocket socket(fd);
  socket.send("GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(socket.read_all(), HasSubstr("GET /api/x"));
}

Task<Reply> throws_up(Request) {
  throw std::runtime_error("secret detail");
  co_return Response();
}

Task<Reply> sleeps(Request) {
  co_await system_clock().sleep(1h);
  co_return Response();
}

TEST(Server, survives_handlers_that_throw_or_hang) {
  TestServer server({get("/throw", throws_up),
                     {.method = "GET",
                      .pattern = "/hang",
                      .handler = sleeps,
                      .options = {.handler_timeout = 30ms}},
                     get("/api/x", echo)});
  TestClient client(server.url());
  auto thrown = client.get("/throw").value();
  EXPECT_EQ(thrown.status, 500);
  EXPECT_THAT(thrown.body, Not(HasSubstr("secret")));
  EXPECT_EQ(client.get("/hang").value().status, 504);
  EXPECT_EQ(client.get("/api/x").value().status, 200);
  EXPECT_EQ(server->connections(), 1u);
}

Task<Reply> injects(Request) {
  Response response;
  response.headers.add("X-Bad", "a\r\nX-Injected: b");
  response.headers.add("X-Good", "c");
  co_return response;
}

TEST(Server, drops_headers_that_would_split_the_response) {
  TestServer server({get("/", injects)});
  auto answer = TestClient(server.url()).get("/").value();
  EXPECT_FALSE(answer.headers.has("X-Injected"));
  EXPECT_EQ(answer.headers.get("X-Good"), "c");
}

TEST(Server, limits_connections) {
  TestServer server(echoing(), {.max_connections = 1});
  RawSocket first(server.port());
  first.send("GET /api/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(first.read_until("\r\n\r\n"), HasSubstr("200"));
  RawSocket second(server.port());
  second.send("GET /api/2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(second.read_all(), "");
}

// A connection from another address of loopback, for the server another client.
int connect_from(const char* source, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  ::inet_pton(AF_INET, source, &from.sin_addr);
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof from), 0);
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return fd;
}

TEST(Server, limits_the_connections_of_one_client) {
  TestServer server(echoing(), {.max_connections_per_peer = 1});
  const std::string request = "GET /api/1 HTTP/1.1\r\nHost: a\r\n\r\n";
  {
    RawSocket first(server.port());
    first.send(request);
    EXPECT_THAT(first.read_until("\r\n\r\n"), HasSubstr("200"));
    RawSocket second(server.port());
    second.send(request);
    EXPECT_EQ(second.read_all(), "");
    RawSocket other(connect_from("127.0.0.2", server.port()));
    other.send(request);
    EXPECT_THAT(other.read_until("\r\n\r\n"), HasSubstr("200"));
  }
  for (int i = 0; i < 1000 && server->connections() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  RawSocket again(server.port());
  again.send(request);
  EXPECT_THAT(again.read_until("\r\n\r\n"), HasSubstr("200"));
}

std::string post_head(std::size_t length) {
  return fmt::format("POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", length);
}

TEST(Server, limits_the_bodies_of_all_requests_together) {
  TestServer server(echoing(), {.max_bodies = 200'000});
  const std::string body(60'000, 'x');
  const std::string request = post_head(body.size()) + body;
  RawSocket slow(server.port());
  slow.send(post_head(body.size() + 1) + body);  // lacks its last byte
  std::string refused;  // once the server has read the bytes of the slow client
  for (int i = 0; i < 1000 && !refused.starts_with("HTTP/1.1 503 "); ++i) {
    RawSocket second(server.port());
    second.send(request);
    refused = second.read_until("\r\n\r\n");
  }
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  RawSocket other(connect_from("127.0.0.2", server.port()));
  other.send(request);
  EXPECT_THAT(other.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  slow.send("x");
  EXPECT_THAT(slow.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  RawSocket again(server.port());
  again.send(request);
  EXPECT_THAT(again.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, takes_no_body_where_none_is_expected) {
  TestServer server(echoing());
  for (std::string_view rest :
       {"Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"})
    EXPECT_THAT(ask(server, "GET /api/ HTTP/1.1\r\nHost: a\r\n" + std::string(rest)),
                StartsWith("HTTP/1.1 413 "))
        << rest;
}

TEST(Server, spreads_connections_over_its_loops) {
  TestServer server(echoing(), {}, 2);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.url()));
    EXPECT_EQ(clients.back()->get("/api/x").value().status, 200);
  }
  EXPECT_EQ(server->connections(), 4u);
}

TEST(Server, reports_an_address_that_is_in_use) {
  TestServer server(echoing());
  Loop loop;
  auto taken = Server::listen({loop.executor()}, {.address = server->address()}, {});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr(server->address()));
  for (const char* nonsense : {"nonsense", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:"})
    EXPECT_FALSE(Server::listen({loop.executor()}, {.address = nonsense}, {})) << nonsense;
}

TEST(Server, replaces_a_stale_unix_socket_but_not_a_live_one) {
  TempDir dir;
  std::string address = "unix://" + dir.path("s");
  dir.write("s", "");
  TestServer server(echoing(), {.address = address});
  Loop loop;
  EXPECT_FALSE(Server::listen({loop.executor()}, {.address = address}, {}));
  EXPECT_EQ(TestClient(address).get("/api/x").value().status, 200);
}

}  // namespace
}  // namespace plim::net
