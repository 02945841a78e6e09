// net::Server over HTTP/2: the same routes and limits, tested with frames written by hand.
#include "net/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/gzip.hpp"
#include "net/h2/server_session.hpp"
#include "net/h2/testing/tls_peer.hpp"
#include "net/testing/fixture.hpp"

namespace plim::net::h2 {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Task<Reply> echo(Request request) {
  co_return text(request.method + " " + request.path + " ?" + request.query + " " +
                 std::string(request.headers.get("Host")) + " " + request.body);
}

Task<Reply> name_peer(Request request) {
  co_return text((request.http2 ? "h2 " : "http/1.1 ") + request.peer.certificate_user);
}

Task<Reply> large(Request) {
  co_return text(std::string(1'000'000, 'x'));
}

Task<Reply> bad_headers(Request) {
  Response out = text("x");
  out.headers.add("Connection", "close");
  out.headers.add("Keep-Alive", "timeout=5");
  out.headers.add("X-Split", "a\r\nb");
  out.headers.add("X-Good", "yes");
  co_return out;
}

Task<Reply> throw_something(Request) {
  throw std::runtime_error("a bug of the test");
  co_return text("");
}

Task<Reply> streamed(Request) {
  Streamed out;
  out.attach = [](const std::shared_ptr<Sink>& sink) { sink->finish(); };
  co_return out;
}

Task<Reply> read_slowly(Request, BodyReader&) {
  co_return text("");
}

// The number of waiting handlers, so that a test knows that its request has arrived.
struct Waiting {
  std::atomic<int> begun = 0, now = 0, most = 0;
};

Task<Reply> wait_for_ever(Waiting& waiting) {
  struct Count {
    explicit Count(Waiting& w) : waiting(w) {
      ++waiting.begun;
      int count = ++waiting.now;
      if (count > waiting.most) waiting.most = count;
    }

    ~Count() { --waiting.now; }

    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    Waiting& waiting;
  };

  Count count(waiting);
  co_await system_clock().sleep(60s);
  co_return text("late");
}

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 5000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
  return holds();
}

class Http2Server : public ::testing::Test {
 protected:
  static ServerOptions with_http2(ServerOptions options = {}) {
    options.tls = Certificates::get().server_tls();
    options.http2 = true;
    return options;
  }

  void listen(ServerOptions options = {}, RouteOptions limits = {}) {
    std::vector<Route> routes{get("/echo", echo),           post("/echo", echo),
                              get("/who", name_peer),       get("/large", large),
                              get("/headers", bad_headers), get("/throw", throw_something),
                              get("/watch", streamed)};
    routes.push_back(get("/wait", [this](const Request&) { return wait_for_ever(waiting); }));
    routes.push_back({.method = "POST", .pattern = "/upload", .streaming = read_slowly});
    for (Route& route : routes) route.options = limits;
    server.emplace(std::move(routes), with_http2(std::move(options)));
  }

  TlsPeer& greeted() {
    peer.emplace(server->port());
    peer->greet();
    return *peer;
  }

  // Checks that the server still serves others.
  void expect_alive() {
    TlsPeer other(server->port());
    other.greet();
    other.request(1, "GET", "/echo");
    EXPECT_EQ(other.answer(1).status, "200");
  }

  Waiting waiting;
  std::optional<TestServer> server;
  std::optional<TlsPeer> peer;
};

TEST_F(Http2Server, is_negotiated_only_if_both_sides_offer_it) {
  listen();
  EXPECT_EQ(TlsPeer(server->port()).agreed(), "h2");
  EXPECT_EQ(TlsPeer(server->port(), "\x08http/1.1\x02h2").agreed(), "h2");  // the server prefers it
  EXPECT_EQ(TlsPeer(server->port(), "\x08http/1.1").agreed(), "http/1.1");
  EXPECT_EQ(TlsPeer(server->port(), "").agreed(), "");
  TestServer without({get("/who", name_peer)}, {.tls = Certificates::get().server_tls()});
  EXPECT_EQ(TlsPeer(without.port()).agreed(), "http/1.1");
  TestClient client(server->url(), {.tls = Certificates::get().client_tls()});
  EXPECT_EQ(client.get("/who").value().body, "http/1.1 ");
}

TEST_F(Http2Server, answers_concurrent_requests_of_one_connection) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/wait");
  client.request(3, "POST", "/echo?a=b?c", field("content-length", "4"), kEndHeaders);
  client.request(5, "GET", "/echo");
  client.data(3, "bo", 0);
  client.data(3, "dy");
  EXPECT_EQ(client.answer(3).body, "POST /echo ?a=b?c test body");
  EXPECT_EQ(client.answer(5).body, "GET /echo ? test ");
  EXPECT_THAT(client.answer(5).headers, HasSubstr("content-length: 17\n"));
  EXPECT_THAT(client.answer(5).headers, HasSubstr("content-type: text/plain\n"));
  EXPECT_THAT(client.answer(5).headers, HasSubstr("date: "));
  EXPECT_EQ((*server)->connections(), 1u);
}

TEST_F(Http2Server, tells_handlers_the_user) {
  const Certificates& keys = Certificates::get();
  ServerOptions options{.tls = keys.server_tls(), .http2 = true};
  options.tls->client_ca_pem = keys.authority.certificate_pem;
  TestServer asking({get("/who", name_peer)}, options);
  TlsPeer client(asking.port(), "\x02h2", &keys.client);
  client.greet();
  client.request(1, "GET", "/who");
  EXPECT_EQ(client.answer(1).body, "h2 alice");
  client.request(3, "HEAD", "/who");
  EXPECT_EQ(client.answer(3).body, "");
  EXPECT_THAT(client.answer(3).headers, HasSubstr("content-length: 8\n"));
}

TEST_F(Http2Server, routes_as_over_http1) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/none");
  EXPECT_EQ(client.answer(1).status, "404");
  client.request(3, "DELETE", "/echo");
  EXPECT_EQ(client.answer(3).status, "405");
  EXPECT_THAT(client.answer(3).headers, HasSubstr("allow: GET, POST\n"));
  client.request(5, "GET", "/throw");
  EXPECT_EQ(client.answer(5).status, "500");
  client.request(7, "POST", "/echo", field("content-encoding", "br"));
  EXPECT_EQ(client.answer(7).status, "415");
  client.request(9, "POST", "/echo", field("expect", "miracles"));
  EXPECT_EQ(client.answer(9).status, "417");
  client.request(11, "GET", "nowhere");
  EXPECT_NE(client.answer(11).status, "200");
}

TEST_F(Http2Server, sends_100_continue_to_a_client_that_waits_for_it) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "POST", "/echo", field("expect", "100-continue"), kEndHeaders);
  while (client.frames.empty() || client.frames.back().type != kHeaders)
    ASSERT_TRUE(client.read_some());
  client.data(1, "now");
  EXPECT_THAT(client.answer(1).headers, HasSubstr(":status: 100\n:status: 200\n"));
  EXPECT_THAT(client.answer(1).body, HasSubstr("now"));
}

TEST_F(Http2Server, accepts_and_sends_gzip) {
  listen();
  TlsPeer& client = greeted();
  std::string packed = gzip("packed");
  client.request(1, "POST", "/echo", field("content-encoding", "gzip"), kEndHeaders);
  client.data(1, packed);
  EXPECT_THAT(client.answer(1).body, HasSubstr("packed"));
  client.request(3, "POST", "/echo", field("content-encoding", "gzip"), kEndHeaders);
  client.data(3, packed.substr(0, 10));
  EXPECT_EQ(client.answer(3).status, "400");
  client.request(5, "POST", "/echo", field("accept-encoding", "gzip"), kEndHeaders);
  client.data(5, std::string(10'000, 'x'));
  EXPECT_THAT(client.answer(5).headers, HasSubstr("content-encoding: gzip\n"));
  EXPECT_LT(client.answer(5).body.size(), 1000u);
}

TEST_F(Http2Server, drops_headers_that_http2_forbids) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/headers");
  EXPECT_THAT(client.answer(1).headers, HasSubstr("x-good: yes\n"));
  for (const char* none : {"connection", "keep-alive", "x-split"})
    EXPECT_THAT(client.answer(1).headers, Not(HasSubstr(none)));
  client.read_all();  // a GOAWAY replaces "Connection: close"
  EXPECT_EQ(client.farewell(), 0u);
}

TEST_F(Http2Server, asks_for_http1_when_a_route_cannot_be_served) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/watch");
  EXPECT_EQ(client.answer(1).reset, 0xdu);
  client.request(3, "POST", "/upload", {}, kEndHeaders);
  EXPECT_EQ(client.answer(3).reset, 0xdu);
  client.request(5, "GET", "/echo");
  EXPECT_EQ(client.answer(5).status, "200");
}

TEST_F(Http2Server, rejects_large_bodies_with_413) {
  listen({}, {.max_body = 1000});
  TlsPeer& client = greeted();
  client.request(1, "POST", "/echo", field("content-length", "1001"), kEndHeaders);
  EXPECT_EQ(client.answer(1).status, "413");  // before any byte of it was sent
  client.request(3, "POST", "/echo", {}, kEndHeaders);
  client.data(3, std::string(30'000, 'x'), 0);
  EXPECT_EQ(client.answer(3).status, "413");
  client.request(5, "POST", "/echo", field("content-encoding", "gzip"), kEndHeaders);
  client.data(5, gzip(std::string(100'000, '0')));
  EXPECT_EQ(client.answer(5).status, "413");
  client.request(7, "POST", "/echo", {}, kEndHeaders);
  client.data(7, std::string(1000, 'x'));
  EXPECT_EQ(client.answer(7).status, "200");
}

TEST_F(Http2Server, accepts_bodies_of_any_size_below_the_limit) {
  listen({}, {.max_body = 5'000'000});
  TlsPeer& client = greeted();
  client.request(1, "POST", "/echo", field("accept-encoding", "gzip"), kEndHeaders);
  // Sends as much as the window allows and waits until the server has returned the window.
  std::size_t window = 65'535, sent = 0;
  for (std::size_t seen = 0; sent < 4'000'000;) {
    for (; seen < client.frames.size(); ++seen) {
      const SeenFrame& one = client.frames[seen];
      if (one.type == kWindowUpdate && one.stream == 1) window += number_at(one.payload, 0);
    }
    std::size_t step = std::min<std::size_t>({16'384, window - sent, 4'000'000 - sent});
    if (step == 0) {
      ASSERT_TRUE(client.read_some());
      continue;
    }
    client.send(frame(kData, 0, 1, std::string(step, 'x')));
    sent += step;
  }
  client.data(1, "");
  EXPECT_EQ(client.answer(1).status, "200");
}

TEST_F(Http2Server, rejects_large_headers_with_431) {
  listen({.max_header = 4096});
  TlsPeer& client = greeted();
  client.request(1, "GET", "/echo", field("x", std::string(5000, 'x')));
  EXPECT_EQ(client.answer(1).status, "431");
  // Few bytes that expand to many: one field of the table, repeated.
  std::string bomb =
      "\x40" + field("x", std::string(1000, 'x')).substr(1) + std::string(3000, '\xbe');
  client.request(3, "GET", "/echo", bomb);
  EXPECT_EQ(client.answer(3).status, "431");
  client.request(5, "GET", "/echo");
  EXPECT_EQ(client.answer(5).status, "200");
}

TEST_F(Http2Server, limits_how_long_a_body_and_a_handler_take) {
  listen({}, {.body_timeout = 100ms, .handler_timeout = 100ms});
  TlsPeer& client = greeted();
  client.request(1, "POST", "/echo", {}, kEndHeaders);
  EXPECT_EQ(client.answer(1).status, "408");
  client.request(3, "GET", "/wait");
  EXPECT_EQ(client.answer(3).status, "504");
  EXPECT_TRUE(eventually([this] { return waiting.now == 0; }));
}

TEST_F(Http2Server, cuts_off_a_client_that_does_not_read_its_response) {
  listen({}, {.body_timeout = 200ms});
  TlsPeer& client = greeted();
  client.request(1, "GET", "/large");  // our window fits only its beginning
  EXPECT_EQ(client.answer(1).reset, 8u);
  EXPECT_GT(client.answer(1).body.size(), 60'000u);
  client.send(frame(kWindowUpdate, 0, 0, number32(1 << 20)));
  client.request(3, "GET", "/echo");
  EXPECT_EQ(client.answer(3).status, "200");
}

TEST_F(Http2Server, closes_connections_that_do_not_read) {
  listen({}, {.body_timeout = 300ms});
  TlsPeer& client = greeted();
  client.send(frame(kSettings, 0, 0, std::string("\0\4", 2) + number32(1 << 30)));
  client.send(frame(kWindowUpdate, 0, 0, number32(1 << 30)));
  for (std::uint32_t id = 1; id < 60; id += 2) client.request(id, "GET", "/large");
  EXPECT_TRUE(eventually([this] { return (*server)->connections() == 0; }));
}

TEST_F(Http2Server, ends_slow_and_idle_connections) {
  listen({.header_timeout = 200ms, .idle_timeout = 300ms});
  TlsPeer silent(server->port());
  TlsPeer mute(server->port());
  mute.greet();  // and sends no request
  TlsPeer& slow = greeted();
  slow.request(1, "GET", "/echo");
  EXPECT_EQ(slow.answer(1).status, "200");
  slow.request(3, "GET", "/echo", {}, kEndStream);  // a CONTINUATION should follow
  slow.read_all();
  silent.read_all();
  mute.read_all();
  TlsPeer& idle = greeted();
  idle.request(1, "GET", "/echo");
  EXPECT_EQ(idle.answer(1).status, "200");
  for (int i = 0; i < 10; ++i) {  // pings do not count as requests
    idle.send(frame(kPing, 0, 0, "12345678"));
    std::this_thread::sleep_for(20ms);
  }
  idle.read_all();
  EXPECT_EQ(idle.farewell(), 0u);
  EXPECT_TRUE(eventually([this] { return (*server)->connections() == 0; }));
}

TEST_F(Http2Server, limits_concurrent_streams) {
  listen();
  TlsPeer& client = greeted();
  for (std::uint32_t i = 0; i <= kMaxStreams; ++i) client.request(2 * i + 1, "GET", "/wait");
  EXPECT_EQ(client.answer(2 * kMaxStreams + 1).reset, 7u);  // refused: may be sent again
  EXPECT_TRUE(eventually([this] { return waiting.now == int{kMaxStreams}; }));
}

TEST_F(Http2Server, limits_the_work_of_streams_that_are_opened_and_reset) {
  listen();
  TlsPeer& client = greeted();
  std::string wire;
  for (std::uint32_t id = 1; id < 2 * 20'000; id += 2)
    wire += frame(kHeaders, kEndHeaders | kEndStream, id, request_fields("GET", "/wait")) +
            frame(kReset, 0, id, number32(8));
  client.send(wire);
  client.read_all();
  EXPECT_TRUE(client.farewell().has_value());  // nghttp2 allows about a thousand
  EXPECT_LT(waiting.begun, 2000);
  EXPECT_LE(waiting.most, int{kMaxStreams});
  EXPECT_TRUE(eventually([this] { return waiting.now == 0; }));
  expect_alive();
}

TEST_F(Http2Server, ends_floods) {
  listen();
  auto is_ended = [this](const std::string& wire) {
    TlsPeer client(server->port());
    client.greet();
    client.send(wire);
    auto began = std::chrono::steady_clock::now();
    client.read_all();
    return std::chrono::steady_clock::now() - began < 4s;  // reads give up after five
  };
  std::string continued = frame(kHeaders, kEndStream, 1, request_fields("GET", "/echo"));
  for (int i = 0; i < 10'000; ++i) continued += frame(kContinuation, 0, 1, field("x", "y"));
  EXPECT_TRUE(is_ended(continued));
  std::string settings;
  for (int i = 0; i < 100; ++i)
    settings += frame(kSettings, 0, 0, std::string(16'380, '\0'));  // 2730 entries each
  EXPECT_TRUE(is_ended(settings));
  expect_alive();
}

TEST_F(Http2Server, ends_connections_that_break_the_protocol) {
  listen();
  auto farewell_to = [this](const std::string& wire) {
    TlsPeer client(server->port());
    client.greet();
    client.send(wire);
    client.read_all();
    return client.farewell().value_or(0);
  };
  EXPECT_EQ(farewell_to(frame(kData, 0, 0, "x")), 1u);                    // without a stream
  EXPECT_EQ(farewell_to(frame(kData, 0, 7, "x")), 1u);                    // on an unopened stream
  EXPECT_EQ(farewell_to(frame(kHeaders, 5, 2, "x")), 1u);                 // on an even stream
  EXPECT_EQ(farewell_to(frame(kPing, 0, 0, "short")), 6u);                // wrong size
  EXPECT_EQ(farewell_to(frame(kContinuation, 4, 1, "")), 1u);             // without HEADERS
  EXPECT_EQ(farewell_to(frame(kHeaders, 5, 1, "\xff\xff\xff\xff")), 9u);  // not HPACK
  EXPECT_NE(farewell_to(frame(kData, 0, 1, std::string(70'000, 'x'))), 0u);
  EXPECT_NE(farewell_to(frame(kWindowUpdate, 0, 0, number32(0x7fffffff))), 0u);
  TlsPeer other(server->port());
  other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  other.read_all();
  TlsPeer gone(server->port());
  gone.greet();
  gone.request(1, "GET", "/wait");
  EXPECT_TRUE(eventually([this] { return waiting.now == 1; }));
  gone.send(frame(kPing, 0, 0, "short"));  // its handlers end with it
  EXPECT_TRUE(eventually([this] { return waiting.now == 0; }));
  expect_alive();
}

TEST_F(Http2Server, rejects_invalid_requests) {
  listen();
  TlsPeer& client = greeted();
  auto reset_of = [&client](std::uint32_t stream, const std::string& fields) {
    client.send(frame(kHeaders, kEndHeaders | kEndStream, stream, fields));
    return client.answer(stream).reset.value_or(0);
  };
  EXPECT_EQ(reset_of(1, field(":method", "GET")), 1u);
  EXPECT_EQ(reset_of(3, request_fields("GET", "/echo", field("Upper", "x"))), 1u);
  EXPECT_EQ(reset_of(5, request_fields("GET", "/echo", field("connection", "close"))), 1u);
  EXPECT_EQ(reset_of(7, request_fields("GET", "/echo", field(":path", "/other"))), 1u);
  EXPECT_EQ(reset_of(9, request_fields("GET", "/echo", field("content-length", "5"))), 1u);
  client.request(11, "GET", "/echo");
  EXPECT_EQ(client.answer(11).status, "200");
}

TEST_F(Http2Server, cancels_the_handler_of_a_stream_that_is_reset) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/wait");
  EXPECT_TRUE(eventually([this] { return waiting.now == 1; }));
  client.send(frame(kReset, 0, 1, number32(8)));
  EXPECT_TRUE(eventually([this] { return waiting.now == 0; }));
  client.request(3, "GET", "/echo");
  EXPECT_EQ(client.answer(3).status, "200");
}

TEST_F(Http2Server, drains_with_a_GOAWAY) {
  listen();
  TlsPeer idle(server->port());
  idle.greet();
  idle.request(1, "GET", "/echo");
  EXPECT_EQ(idle.answer(1).status, "200");
  TlsPeer& busy = greeted();
  busy.request(1, "POST", "/echo", {}, kEndHeaders);
  busy.request(3, "GET", "/echo");
  EXPECT_EQ(busy.answer(3).status, "200");  // so the server has seen 1 as well
  Loop loop;
  std::thread client([&] {
    idle.read_all();
    EXPECT_EQ(idle.farewell(), 0u);
    while (!busy.farewell() && busy.read_some()) {
    }
    busy.request(5, "GET", "/echo");  // too late: no response
    busy.data(1, "under way");
    EXPECT_THAT(busy.answer(1).body, HasSubstr("under way"));
    busy.read_all();
    EXPECT_EQ(busy.answer(5).status, "");
    peer.reset();
  });
  auto began = std::chrono::steady_clock::now();
  run_to_end(loop, (*server)->drain(10s));
  client.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
  EXPECT_EQ((*server)->connections(), 0u);
}

TEST_F(Http2Server, cancels_what_outlasts_the_grace_period) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/wait");
  EXPECT_TRUE(eventually([this] { return waiting.now == 1; }));
  Loop loop;
  run_to_end(loop, (*server)->drain(20ms));
  EXPECT_EQ(waiting.now, 0);
  EXPECT_EQ((*server)->connections(), 0u);
}

TEST_F(Http2Server, may_be_destroyed_with_requests_under_way) {
  listen();
  TlsPeer& client = greeted();
  client.request(1, "GET", "/wait");
  EXPECT_TRUE(eventually([this] { return waiting.now == 1; }));
  server.reset();
  client.read_all();
}

}  // namespace
}  // namespace plim::net::h2
