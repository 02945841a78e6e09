// Streamed responses and requests: sinks, watches, uploads, body readers.
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/sanitized.hpp"
#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using namespace std::chrono_literals;

Piece piece(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

// Holds the sinks of all watchers, as a watch cache does.
class Hub {
 public:
  Route route(std::size_t max_queued = 1024) {
    return get("/watch", [this, max_queued](const Request&) { return serve(max_queued); });
  }

  void wait_for(std::size_t watchers) {
    std::unique_lock held(mutex_);
    changed_.wait(held, [&] { return sinks_.size() >= watchers; });
  }

  std::size_t publish(std::string bytes) {
    Piece shared = piece(std::move(bytes));
    std::lock_guard held(mutex_);
    return static_cast<std::size_t>(std::count_if(sinks_.begin(), sinks_.end(),
                                                  [&](auto& sink) { return sink->push(shared); }));
  }

  // Sends to the first watcher, no faster than it reads.
  void publish_patiently(const Piece& shared, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      while (sinks_.front()->queued() > 8) std::this_thread::yield();
      sinks_.front()->push(shared);
    }
  }

  void finish() {
    std::lock_guard held(mutex_);
    for (auto& sink : sinks_) sink->finish();
  }

  void abort() {
    std::lock_guard held(mutex_);
    for (auto& sink : sinks_) sink->abort();
  }

  std::atomic<int> gone = 0;

  void wait_gone(int count) {
    for (int seen = gone; seen < count; seen = gone) gone.wait(seen);
  }

 private:
  Task<Reply> serve(std::size_t max_queued) {
    Streamed streamed;
    streamed.headers.add("Content-Type", "application/json");
    streamed.max_queued = max_queued;
    streamed.attach = [this](std::shared_ptr<Sink> sink) {
      sink->on_gone([this] {
        ++gone;
        gone.notify_all();
      });
      std::lock_guard held(mutex_);
      sinks_.push_back(std::move(sink));
      changed_.notify_all();
    };
    co_return streamed;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Sink>> sinks_;
};

Task<std::string> read_to_end(Client& client, CallOptions options, int pieces = 1 << 30) {
  Request request;
  request.path = "/watch";
  auto stream = co_await client.open(std::move(request), options);
  if (!stream) co_return "open: " + stream.error().message;
  std::string out;
  while (pieces-- > 0) {
    auto next = co_await (*stream)->next();
    if (!next) co_return out + "|" + std::string(reason(next.error().code));
    if (!*next) co_return out + "|end";
    out += **next;
  }
  co_return out;
}

TEST(Streaming, delivers_pieces_in_order_and_ends_regularly) {
  for (bool tls : {false, true}) {
    Hub hub;
    ServerOptions options;
    if (tls) options.tls = Certificates::get().server_tls();
    TestServer server({hub.route()}, options);
    TestClient client(server.url(), {.tls = Certificates::get().client_tls()});
    std::thread publisher([&] {
      hub.wait_for(1);
      hub.publish("one,");
      hub.publish(std::string(300'000, 'x'));
      hub.publish(",two");
      hub.finish();
    });
    std::string got = run_to_end(client.loop, read_to_end(*client.client, {}));
    publisher.join();
    EXPECT_EQ(got, "one," + std::string(300'000, 'x') + ",two|end");
    EXPECT_EQ(client.get("/none").value().status, 404);
    EXPECT_EQ(server->connections(), 1u) << "the connection is reused";
    hub.wait_gone(1);
  }
}

TEST(Streaming, the_sink_is_notified_when_the_client_leaves) {
  Hub hub;
  TestServer server({hub.route()});
  {
    RawSocket socket(server.port());
    socket.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
    hub.wait_for(1);
  }
  hub.wait_gone(1);
  EXPECT_EQ(hub.publish("x"), 0u);
}

TEST(Streaming, overflow_closes_only_the_slow_watcher) {
  Hub hub;
  TestServer server({hub.route(4)});
  RawSocket slow(server.port());
  slow.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  hub.wait_for(1);
  RawSocket quick(server.port());
  quick.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(quick.read_until("\r\n\r\n"), ::testing::HasSubstr("200"));
  hub.wait_for(2);
  std::string big(1 << 20, 'x');
  std::size_t reached = 2;
  for (int i = 0; i < 100 && reached == 2; ++i) {
    reached = hub.publish(big + "\n");
    quick.read_until("\n\r\n");
  }
  EXPECT_EQ(reached, 1u);
  hub.wait_gone(1);
  EXPECT_EQ(hub.publish("last\n"), 1u);
  EXPECT_THAT(quick.read_until("last\n"), ::testing::HasSubstr("last"));
}

TEST(Streaming, abort_does_not_wait_for_a_peer_that_reads_nothing) {
  Hub hub;
  TestServer server({hub.route()});
  RawSocket stuck(server.port());
  stuck.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  hub.wait_for(1);
  const std::string big(1 << 20, 'x');
  for (int i = 0; i < 50; ++i) hub.publish(big);  // more than the kernel buffers
  hub.finish();
  EXPECT_EQ(hub.gone, 0);
  hub.abort();
  hub.wait_gone(1);
}

TEST(Streaming, http_1_0_gets_a_stream_without_chunks) {
  Hub hub;
  TestServer server({hub.route()});
  RawSocket socket(server.port());
  socket.send("GET /watch HTTP/1.0\r\n\r\n");
  hub.wait_for(1);
  hub.publish("plain");
  hub.finish();
  std::string answer = socket.read_all();
  EXPECT_TRUE(answer.ends_with("\r\n\r\nplain")) << answer;
}

TEST(Streaming, drain_finishes_open_streams) {
  Hub hub;
  TestServer server({hub.route()});
  RawSocket socket(server.port());
  socket.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  hub.wait_for(1);
  hub.publish("x");
  Loop loop;
  run_to_end(loop, server->drain(5s));
  EXPECT_TRUE(socket.read_all().ends_with("1\r\nx\r\n0\r\n\r\n"));
  hub.wait_gone(1);
}

TEST(Streaming, silence_beyond_the_limit_is_a_timeout) {
  Hub hub;
  TestServer server({hub.route()});
  TestClient client(server.url());
  EXPECT_EQ(run_to_end(client.loop, read_to_end(*client.client, {.read_timeout = 30ms})),
            "|Timeout");
}

TEST(Streaming, a_broken_connection_is_unavailable) {
  ScriptedServer server([](RawSocket& socket, int) {
    socket.read_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde");
  });
  TestClient client(server.url());
  EXPECT_EQ(run_to_end(client.loop, read_to_end(*client.client, {})), "abcde|ServiceUnavailable");
}

struct Count {
  std::uint64_t bytes = 0;
};

Task<Reply> count_body(Count& count, BodyReader& body) {
  for (;;) {
    auto next = co_await body.next();
    if (!next) co_return text(next.error().message, http_status(next.error().code));
    if (!*next) break;
    count.bytes += (*next)->size();
  }
  co_return text(std::to_string(count.bytes));
}

Task<Result<Response>> upload(Client& client, std::size_t pieces, std::size_t piece_size) {
  Request request;
  request.method = "POST";
  request.path = "/count";
  PLIM_CO_TRY(auto body, co_await client.upload(std::move(request)));
  for (std::size_t i = 0; i < pieces; ++i)
    PLIM_CO_CHECK(co_await body->write(std::string(piece_size, 'x')));
  PLIM_CO_TRY(Response response, co_await body->finish());
  co_return response;
}

// 0 with sanitizers, which delay freeing memory.
long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return plim::testing::kSanitized ? 0 : usage.ru_maxrss;
}

TEST(Streaming, large_uploads_need_little_memory) {
  Count count;
  Route route{
      .method = "POST",
      .pattern = "/count",
      .streaming = [&count](const Request&, BodyReader& body) { return count_body(count, body); },
      .options = {.max_body = 100u << 20}};
  TestServer server({route}, {.tls = Certificates::get().server_tls()});
  TestClient client(server.url(), {.tls = Certificates::get().client_tls()});
  long before = peak_kilobytes();
  auto answer = run_to_end(client.loop, upload(*client.client, 800, 64 << 10));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, std::to_string(800 * (64 << 10)));
  EXPECT_LT(peak_kilobytes() - before, 20'000);
}

TEST(Streaming, a_silent_upload_times_out_even_without_a_handler_timeout) {
  Count count;
  Route route{
      .method = "POST",
      .pattern = "/count",
      .streaming = [&count](const Request&, BodyReader& body) { return count_body(count, body); },
      .options = {.body_timeout = 30ms, .handler_timeout = 0ms}};
  TestServer server({route});
  RawSocket socket(server.port());
  socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(socket.read_all(), ::testing::StartsWith("HTTP/1.1 504 "));
}

Task<Result<std::size_t>> download(Client& client) {
  Request request;
  request.path = "/watch";
  PLIM_CO_TRY(auto stream, co_await client.open(std::move(request)));
  std::size_t size = 0;
  for (;;) {
    PLIM_CO_TRY(std::optional<std::string> next, co_await stream->next());
    if (!next) co_return size;
    size += next->size();
  }
}

TEST(Streaming, large_downloads_need_little_memory) {
  Hub hub;
  TestServer server({hub.route(16)}, {.tls = Certificates::get().server_tls()});
  TestClient client(server.url(), {.tls = Certificates::get().client_tls()});
  long before = peak_kilobytes();
  constexpr std::size_t kPieces = 800;
  std::thread publisher([&] {
    hub.wait_for(1);
    Piece shared = piece(std::string(64 << 10, 'x'));
    hub.publish_patiently(shared, kPieces);
    hub.finish();
  });
  auto size = run_to_end(client.loop, download(*client.client));
  publisher.join();
  ASSERT_TRUE(size) << size.error().message;
  EXPECT_EQ(*size, kPieces * (64 << 10));
  EXPECT_LT(peak_kilobytes() - before, 20'000);
}

TEST(Streaming, uploads_beyond_the_limit_are_rejected) {
  Count count;
  Route route{
      .method = "POST",
      .pattern = "/count",
      .streaming = [&count](const Request&, BodyReader& body) { return count_body(count, body); },
      .options = {.max_body = 100'000}};
  TestServer server({route});
  TestClient client(server.url());
  auto answer = run_to_end(client.loop, upload(*client.client, 2, 64 << 10));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

}  // namespace
}  // namespace plim::net
