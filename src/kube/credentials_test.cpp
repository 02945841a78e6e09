#include "kube/credentials.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

class CredentialsTest : public ::testing::Test {
 protected:
  void use(const Config& config) { credentials = make_credentials(loop.executor(), config, clock); }

  Identity current() {
    auto identity = run_to_end(loop, credentials->current());
    EXPECT_TRUE(identity) << identity.error().message;
    return identity.value_or(Identity());
  }

  std::string authorization() { return current().authorization; }

  void write_token(std::string_view token) { EXPECT_TRUE(write_file(file, token)); }

  // Counts its runs in a file; the token is the count.
  Config plugin(std::string_view expiry = "") {
    const std::string text = fmt::format(
        "#!/bin/sh\n"
        "echo run >> {0}/runs\n"
        "test -e {0}/broken && exit 1\n"
        "cat <<E\n"
        R"({{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
        R"x("status":{{"token":"$(wc -l < {0}/runs)"{1}}}}})x"
        "\nE\n",
        directory.path(), expiry);
    EXPECT_TRUE(write_file(directory / "login", text, {.mode = 0700}));
    Config config;
    config.exec.emplace();
    config.exec->api_version = "client.authentication.k8s.io/v1";
    config.exec->command = directory / "login";
    config.exec->interactive_mode = "Never";
    return config;
  }

  plim::testing::TempDir directory;
  std::string file = directory / "token";
  Loop loop;
  FakeClock clock;
  std::unique_ptr<Credentials> credentials;
};

TEST_F(CredentialsTest, fixed_ones_cannot_be_renewed) {
  Config config;
  use(config);
  EXPECT_EQ(authorization(), "");
  config.username = "me";
  config.password = "pass";
  use(config);
  EXPECT_EQ(authorization(), "Basic bWU6cGFzcw==");
  config.token = "t";
  use(config);
  EXPECT_EQ(authorization(), "Bearer t");
  EXPECT_FALSE(credentials->rejected(current().generation));
}

TEST_F(CredentialsTest, a_token_file_wins_over_a_token_unless_it_cannot_be_read) {
  Config config;
  config.token = "fixed";
  config.token_file = file;
  use(config);
  EXPECT_EQ(authorization(), "Bearer fixed");
  write_token("other\n");
  EXPECT_EQ(authorization(), "Bearer other");
}

TEST_F(CredentialsTest, a_token_file_is_read_again_when_it_changes) {
  write_token("one\n");
  Config config;
  config.token_file = file;
  use(config);
  EXPECT_EQ(authorization(), "Bearer one");
  write_token("two");
  EXPECT_EQ(authorization(), "Bearer two");
  ASSERT_TRUE(remove_file(file));
  clock.advance(2min);
  EXPECT_EQ(authorization(), "Bearer two");  // better than none
}

TEST_F(CredentialsTest, a_rejected_token_is_read_again_and_tried_only_if_it_differs) {
  write_token("one");
  Config config;
  config.token_file = file;
  use(config);
  const Identity first = current();
  EXPECT_FALSE(credentials->rejected(first.generation));
  write_token("two");
  EXPECT_TRUE(credentials->rejected(first.generation));
  EXPECT_EQ(authorization(), "Bearer two");
}

TEST_F(CredentialsTest, a_missing_or_broken_token_file_is_an_error_that_does_not_quote_it) {
  Config config;
  config.token_file = file;
  use(config);
  auto identity = run_to_end(loop, credentials->current());
  ASSERT_FALSE(identity);
  EXPECT_NE(identity.error().message.find(file), std::string::npos);
  EXPECT_EQ(identity.error().code, Code::unauthorized);  // no object of the API is missing
  write_token("s3cret\ns3cret");
  identity = run_to_end(loop, credentials->current());
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().message, "token file: " + file + ": expected one token");
}

TEST_F(CredentialsTest, a_plugin_runs_once_while_its_credential_lasts) {
  use(plugin(R"(,"expirationTimestamp":"2023-11-14T22:23:20Z")"));  // in ten minutes
  EXPECT_EQ(authorization(), "Bearer 1");
  clock.advance(9min);
  EXPECT_EQ(authorization(), "Bearer 1");
  clock.advance(1min);
  EXPECT_EQ(authorization(), "Bearer 2");
}

TEST_F(CredentialsTest, a_plugin_without_expiry_runs_again_only_when_refused) {
  use(plugin());
  const Identity first = current();
  clock.advance(1000h);
  EXPECT_EQ(authorization(), "Bearer 1");
  EXPECT_TRUE(credentials->rejected(first.generation));
  EXPECT_EQ(authorization(), "Bearer 2");
  EXPECT_TRUE(credentials->rejected(first.generation));  // a late report: no third run
  EXPECT_EQ(authorization(), "Bearer 2");
}

TEST_F(CredentialsTest, uses_an_expired_credential_instead_of_running_the_plugin_forever) {
  use(plugin(R"(,"expirationTimestamp":"2001-01-01T00:00:00Z")"));
  EXPECT_EQ(authorization(), "Bearer 1");
}

Task<void> note_current(Credentials& credentials, std::vector<std::string>& seen) {
  auto identity = co_await credentials.current();
  seen.push_back(identity ? identity->authorization : "error");
}

TEST_F(CredentialsTest, callers_share_one_run_of_the_plugin) {
  use(plugin());
  std::vector<std::string> seen;
  TaskGroup group(loop.executor());
  for (int i = 0; i < 3; ++i) group.spawn("caller", note_current(*credentials, seen));
  run_to_end(loop, group.join());
  EXPECT_EQ(seen, std::vector<std::string>(3, "Bearer 1"));

  ASSERT_TRUE(write_file(directory / "broken", ""));
  credentials->rejected(current().generation);
  seen.clear();
  for (int i = 0; i < 3; ++i) group.spawn("caller", note_current(*credentials, seen));
  run_to_end(loop, group.join());
  EXPECT_EQ(seen, std::vector<std::string>(3, "error"));
  EXPECT_EQ(*read_file(directory / "runs"), "run\nrun\n");
}

TEST_F(CredentialsTest, a_cancelled_caller_leaves_the_run_to_the_next) {
  use(plugin());
  std::vector<std::string> seen;
  TaskGroup first(loop.executor());
  TaskGroup second(loop.executor());
  first.spawn("first", note_current(*credentials, seen));
  second.spawn("second", note_current(*credentials, seen));
  loop.run_ready();
  run_to_end(loop, first.stop());
  run_to_end(loop, second.join());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen.front().starts_with("Bearer ")) << seen.front();
}

}  // namespace
}  // namespace plim::kube
