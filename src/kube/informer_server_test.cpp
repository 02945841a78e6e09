// The informer with the real client and an HTTP server that sends slowly, disconnects and dies.
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "kube/informer.hpp"
#include "net/server.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

std::string pod_json(std::string_view name, int version) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"{}","resourceVersion":"{}"}}}})",
      name, name, version);
}

std::string event_line(std::string_view type, std::string_view name, int version) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, pod_json(name, version));
}

class InformerOnServer : public ::testing::Test {
 protected:
  void SetUp() override {
    listen("127.0.0.1:0");
    Config config;
    config.server = "http://" + server->address();
    config.qps = 0;
    auto made = Client::create(loop.executor(), config);
    ASSERT_TRUE(made) << made.error().message;
    ReflectorOptions options;
    options.silence = silence;
    options.backoff = {.first = 1ms, .limit = 20ms};
    informer = std::make_unique<Informer<Pod>>(loop.executor(), *made, resources::pods,
                                               pod_codec(pool), options);
    Informer<Pod>::Handlers handlers;
    handlers.on_add = [this](const auto& pod) { told("+" + pod->meta.name); };
    handlers.on_update = [this](const auto&, const auto& pod) { told("~" + pod->meta.name); };
    handlers.on_delete = [this](const auto& pod) { told("-" + pod->meta.name); };
    informer->add_handlers(std::move(handlers));
  }

  void TearDown() override {
    run_to_end(loop, informer->stop());
    kill();
  }

  void listen(std::string address) {
    net::Route route{.method = "GET", .pattern = "/api/v1/pods"};
    route.handler = [this](net::Request request) { return handle(std::move(request)); };
    net::ServerOptions options;
    options.address = std::move(address);
    auto made = net::Server::listen({loop.executor()}, std::move(options), {std::move(route)});
    ASSERT_TRUE(made) << made.error().message;
    server = std::move(*made);
  }

  // Like a crash: streams end in the middle of an event.
  void kill() {
    run_to_end(loop, server->drain(0ms));
    sinks.clear();
    server.reset();
  }

  Task<net::Reply> handle(net::Request request) {
    bool watch = request.query.find("watch=true") != std::string::npos;
    if (request.query.find("sendInitialEvents") != std::string::npos)
      co_return net::Response{400, {}, R"({"kind":"Status","code":400,"reason":"BadRequest"})"};
    queries.push_back(request.query);
    changed.notify();
    if (!watch) co_return net::Response{200, {}, list};
    if (std::exchange(history_is_gone, false))
      co_return net::Response{410, {}, R"({"kind":"Status","code":410,"reason":"Expired"})"};
    net::Streamed out;
    out.attach = [this](std::shared_ptr<net::Sink> sink) {
      sinks.push_back(std::move(sink));
      changed.notify();
    };
    co_return out;
  }

  void told(std::string what) {
    tale.push_back(std::move(what));
    changed.notify();
  }

  void say(std::string_view bytes) {
    sinks.back()->push(std::make_shared<const std::string>(bytes));
  }

  // Runs the loop until the condition is true.
  void until(std::function<bool()> holds) {
    bool held = run_to_end(loop, wait_until(std::move(holds)));
    EXPECT_TRUE(held) << "still waiting after 10 s";
  }

  Task<bool> wait_until(std::function<bool()> holds) {
    SteadyTime deadline = system_clock().steady() + 10s;
    while (!holds()) {
      bool in_time = co_await changed.wait_until(system_clock(), deadline);
      if (!in_time) co_return false;
    }
    co_return true;
  }

  using Tale = std::vector<std::string>;

  std::chrono::milliseconds silence{60'000};
  Loop loop;
  InternPool pool;
  Event changed{loop.executor()};
  std::string list = R"({"metadata":{"resourceVersion":"10"},"items":[)" + pod_json("a", 5) + "]}";
  bool history_is_gone = false;
  std::vector<std::string> queries;  // of lists and watches
  std::vector<std::shared_ptr<net::Sink>> sinks;
  std::unique_ptr<net::Server> server;
  std::unique_ptr<Informer<Pod>> informer;
  Tale tale;
};

TEST_F(InformerOnServer, understands_events_that_drip_in) {
  informer->start();
  until([&] { return !sinks.empty(); });
  std::string lines = event_line("ADDED", "b", 11) + event_line("MODIFIED", "a", 12) +
                      event_line("DELETED", "b", 13);
  for (char c : lines) say(std::string_view(&c, 1));
  until([&] { return tale.size() >= 4; });
  EXPECT_EQ(tale, (Tale{"+a", "+b", "~a", "-b"}));
  EXPECT_NE(queries.back().find("resourceVersion=10"), std::string::npos);
}

TEST_F(InformerOnServer, resumes_where_a_killed_server_broke_off) {
  informer->start();
  until([&] { return !sinks.empty(); });
  std::string half = event_line("ADDED", "lost", 12);
  say(event_line("ADDED", "b", 11) + half.substr(0, half.size() / 2));
  until([&] { return tale.size() == 2; });
  std::string address = server->address();
  kill();
  listen(address);
  until([&] { return !sinks.empty(); });
  EXPECT_NE(queries.back().find("resourceVersion=11"), std::string::npos) << queries.back();
  say(event_line("ADDED", "lost", 12));
  until([&] { return tale.size() == 3; });
  EXPECT_EQ(tale, (Tale{"+a", "+b", "+lost"}));
  EXPECT_EQ(informer->stats().lists, 2u);  // the refused WatchList, then the list
}

TEST_F(InformerOnServer, lists_again_when_resuming_is_answered_with_410) {
  informer->start();
  until([&] { return !sinks.empty(); });
  history_is_gone = true;
  list = R"({"metadata":{"resourceVersion":"20"},"items":[)" + pod_json("c", 15) + "]}";
  sinks.back()->finish();
  until([&] { return tale.size() == 3; });
  EXPECT_EQ(tale, (Tale{"+a", "-a", "+c"}));
  until([&] { return sinks.size() == 2; });
  EXPECT_NE(queries.back().find("resourceVersion=20"), std::string::npos);
}

class InformerOnSilentServer : public InformerOnServer {
 protected:
  InformerOnSilentServer() { silence = 30ms; }
};

TEST_F(InformerOnSilentServer, leaves_a_dead_peer_and_resumes) {
  informer->start();
  until([&] { return sinks.size() >= 2; });
  EXPECT_GE(informer->stats().failures, 1u);
  say(event_line("ADDED", "b", 11));
  until([&] { return tale.size() >= 2; });
  EXPECT_EQ(tale, (Tale{"+a", "+b"}));
}

}  // namespace
}  // namespace plim::kube
