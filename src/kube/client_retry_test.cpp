#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "kube/testing/scripted_server.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using plim::testing::ScriptedServer;

class ClientRetry : public ::testing::Test {
 protected:
  void SetUp() override { connect(server.config()); }

  void TearDown() override { run_to_end(loop, server.stop()); }

  void connect(Config config) {
    auto made = Client::create(loop.executor(), std::move(config), clock);
    ASSERT_TRUE(made) << made.error().message;
    client = *made;
  }

  Result<json::value> get() {
    return plim::testing::run_without_waiting(loop, clock,
                                              client->get(resources::nodes, {"", "n"}));
  }

  Nanos passed() const { return clock.steady() - SteadyTime(); }

  plim::testing::TempDir directory;
  Loop loop;
  FakeClock clock;
  ScriptedServer server{loop};
  std::shared_ptr<Client> client;
};

TEST_F(ClientRetry, waits_as_long_as_the_server_asks) {
  server.answer(429, "", {{"Retry-After", "3"}});
  server.answer(503, "", {{"Retry-After", "4"}});
  server.answer(200, "{}");
  EXPECT_TRUE(get());
  EXPECT_EQ(passed(), 7s);
  EXPECT_EQ(client->stats().requests, 3u);
  EXPECT_EQ(client->stats().retries, 2u);
}

TEST_F(ClientRetry, gives_up_after_ten_times) {
  for (int i = 0; i < 20; ++i) server.answer(503, "", {{"Retry-After", "1"}});
  const auto answer = get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_EQ(answer.error().retry_after, 1s);
  EXPECT_EQ(server.requests().size(), 11u);
}

TEST_F(ClientRetry, does_not_repeat_what_the_server_does_not_ask_for) {
  for (int status : {400, 403, 404, 409, 422, 429, 500, 503, 504}) {
    const std::size_t before = server.requests().size();
    server.answer(status, "");
    EXPECT_FALSE(get()) << status;
    EXPECT_EQ(server.requests().size(), before + 1) << status;
  }
}

TEST_F(ClientRetry, does_not_wait_for_hours) {
  server.answer(503, "", {{"Retry-After", "7200"}});
  const auto answer = get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().retry_after, 7200s);
  EXPECT_EQ(passed(), 0s);
}

TEST_F(ClientRetry, reads_a_refused_token_again_and_tries_once) {
  const std::string file = directory / "token";
  ASSERT_TRUE(write_file(file, "old"));
  Config config = server.config();
  config.token_file = file;
  connect(config);
  server.answer(200, "{}");
  ASSERT_TRUE(get());
  EXPECT_EQ(server.last().headers.get("Authorization"), "Bearer old");

  server.answer(401, "");
  EXPECT_EQ(get().error().code, Code::unauthorized);  // nothing new to offer
  EXPECT_EQ(server.requests().size(), 2u);

  ASSERT_TRUE(write_file(file, "new"));
  server.answer(200, "{}");
  ASSERT_TRUE(get());
  EXPECT_EQ(server.last().headers.get("Authorization"), "Bearer new");
}

TEST_F(ClientRetry, runs_a_credential_plugin_again_after_a_401) {
  const std::string script = fmt::format(
      "#!/bin/sh\n"
      "echo run >> {0}/runs\n"
      R"(echo "{{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",)"
      R"(\"status\":{{\"token\":\"token-$(wc -l < {0}/runs)\"}}}}")"
      "\n",
      directory.path());
  ASSERT_TRUE(write_file(directory / "login", script, {.mode = 0700}));
  Config config = server.config();
  config.exec.emplace();
  config.exec->api_version = "client.authentication.k8s.io/v1";
  config.exec->command = directory / "login";
  config.exec->interactive_mode = "Never";
  connect(config);
  server.answer(401, "");
  server.answer(200, "{}");
  const auto answer = get();
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[0].headers.get("Authorization"), "Bearer token-1");
  EXPECT_EQ(server.requests()[1].headers.get("Authorization"), "Bearer token-2");

  server.answer(401, "");
  server.answer(401, "");
  EXPECT_EQ(get().error().code, Code::unauthorized);
  EXPECT_EQ(server.left(), 0u);  // once more, not for ever
}

TEST_F(ClientRetry, keeps_to_its_rate_and_records_the_waits) {
  Config config = server.config();
  config.qps = 2;
  config.burst = 1;
  connect(config);
  for (int i = 0; i < 3; ++i) {
    server.answer(200, "{}");
    ASSERT_TRUE(get());
  }
  EXPECT_EQ(passed(), 1s);
  EXPECT_EQ(client->stats().throttled, 2u);
  EXPECT_EQ(client->stats().throttled_for, 1s);
}

}  // namespace
}  // namespace plim::kube
