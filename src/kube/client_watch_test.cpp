#include <gtest/gtest.h>

#include "kube/testing/scripted_server.hpp"

namespace plim::kube {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using plim::testing::ScriptedServer;

class ClientWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Client::create(loop.executor(), server.config(), clock);
    ASSERT_TRUE(made) << made.error().message;
    client = *made;
  }

  void TearDown() override { run_to_end(loop, server.stop()); }

  Result<std::unique_ptr<Watch>> open(WatchOptions options = {}) {
    return plim::testing::run_without_waiting(loop, clock,
                                              client->watch(resources::pods, std::move(options)));
  }

  // Every event until the watch ends.
  Result<std::vector<std::string>> all_of(Watch& watch) {
    std::vector<std::string> out;
    for (;;) {
      PLIM_TRY(std::optional<std::string> line, run_to_end(loop, watch.next()));
      if (!line) return out;
      out.push_back(std::move(*line));
    }
  }

  Loop loop;
  FakeClock clock;
  ScriptedServer server{loop};
  std::shared_ptr<Client> client;
};

TEST_F(ClientWatch, asks_for_bookmarks_from_a_version) {
  server.stream({});
  ASSERT_TRUE(open({.ns = "shop", .label_selector = "a=b", .resource_version = "7"}));
  EXPECT_EQ(server.last().path, "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(net::parse_query(server.last().query), (Pairs{{"watch", "true"},
                                                          {"labelSelector", "a=b"},
                                                          {"resourceVersion", "7"},
                                                          {"allowWatchBookmarks", "true"},
                                                          {"timeoutSeconds", "300"}}));
}

TEST_F(ClientWatch, asks_for_initial_events) {
  server.stream({});
  ASSERT_TRUE(open({.send_initial_events = true, .timeout = std::chrono::seconds(0)}));
  EXPECT_EQ(net::parse_query(server.last().query),
            (Pairs{{"watch", "true"},
                   {"allowWatchBookmarks", "true"},
                   {"sendInitialEvents", "true"},
                   {"resourceVersionMatch", "NotOlderThan"}}));
}

TEST_F(ClientWatch, joins_half_lines_and_large_events) {
  const std::string large = R"({"type":"ADDED","object":")" + std::string(300'000, 'x') + "\"}";
  server.stream({"{\"type\":", "\"A\"}\r\n{\"type\":\"B\"}\n\n", large.substr(0, 100'000),
                 large.substr(100'000) + "\n", "{\"type\":\"half"});
  auto watch = open();
  ASSERT_TRUE(watch) << watch.error().message;
  const auto events = all_of(**watch);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(*events, (std::vector<std::string>{R"({"type":"A"})", R"({"type":"B"})", large}));
}

TEST_F(ClientWatch, refuses_endless_lines) {
  server.stream(std::vector<std::string>(34, std::string(1 << 20, 'x')));
  auto watch = open();
  ASSERT_TRUE(watch) << watch.error().message;
  const auto events = all_of(**watch);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, Code::too_large);
}

TEST_F(ClientWatch, a_refusal_is_the_servers_error) {
  server.answer(410,
                R"({"kind":"Status","reason":"Expired","message":"too old resource version"})");
  const auto watch = open({.resource_version = "1"});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, Code::expired);
  EXPECT_EQ(watch.error().message, "too old resource version");
}

TEST_F(ClientWatch, is_tried_again_when_the_server_asks_for_it) {
  server.answer(429, "", {{"Retry-After", "5"}});
  server.stream({"{}\n"});
  auto watch = open();
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_EQ(clock.steady(), SteadyTime(std::chrono::seconds(5)));
  EXPECT_EQ(*all_of(**watch), std::vector<std::string>{"{}"});
}

}  // namespace
}  // namespace plim::kube
