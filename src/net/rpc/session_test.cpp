// Two sessions connected by strings: no sockets, no loop; the test controls every step.
#include "net/rpc/session.hpp"

#include <gtest/gtest.h>

namespace plim::net::rpc {
namespace {

constexpr std::size_t kAll = 64u << 20;

class SessionTest : public ::testing::Test {
 protected:
  explicit SessionTest(RpcLimits server_limits = {})
      : server_(Session::Role::server, server_limits,
                {.on_output = {},
                 .on_request = [this](const StreamPtr& call) { requests_.push_back(call); }}),
        client_(Session::Role::client, {}, {}) {}

  static std::string output_of(Session& session) {
    std::string out;
    EXPECT_TRUE(session.send_into(out, kAll));
    return out;
  }

  // Passes bytes both ways until neither side has any.
  void exchange() {
    for (;;) {
      std::string to_server = output_of(client_);
      EXPECT_TRUE(server_.receive(to_server));
      std::string to_client = output_of(server_);
      EXPECT_TRUE(client_.receive(to_client));
      if (to_server.empty() && to_client.empty()) return;
    }
  }

  StreamPtr request(std::string_view message) {
    return client_.request("/t/x", message, kNoDeadline, {{"who", "me"}});
  }

  std::vector<StreamPtr> requests_;
  Session server_;
  Session client_;
};

TEST_F(SessionTest, carries_a_call_there_and_back) {
  StreamPtr call = request("question");
  exchange();
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0]->path, "/t/x");
  EXPECT_EQ(server_.take(*requests_[0]), "question");
  server_.send(*requests_[0], "answer");
  server_.finish(*requests_[0], {});
  exchange();
  ASSERT_TRUE(call->over());
  EXPECT_EQ(client_.take(*call), "answer");
  EXPECT_TRUE(call->verdict().ok());
  EXPECT_EQ(client_.calls() + server_.calls(), 0u);
}

TEST_F(SessionTest, reports_changes_only_outside_the_library) {
  StreamPtr call = request("question");
  int changes = 0;
  call->on_change = [&] {
    ++changes;
    client_.cancel(*call, {RpcCode::cancelled, "enough"});  // submitting must be safe here
  };
  exchange();
  server_.send(*requests_[0], "first of many");
  exchange();
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(call->verdict().message, "enough");
  EXPECT_TRUE(requests_[0]->over());
}

TEST_F(SessionTest, keeps_the_window_of_a_slow_reader) {
  StreamPtr call = request("question");
  exchange();
  for (int i = 0; i < 100; ++i) server_.send(*requests_[0], std::string(10'000, 'x'));
  exchange();
  std::size_t received = call->messages.size();
  EXPECT_GE(received, 4u);
  EXPECT_LT(received, 40u);
  EXPECT_GT(requests_[0]->unsent(), 500'000u);
  while (!call->messages.empty()) {
    client_.take(*call);
    exchange();
  }
  EXPECT_EQ(requests_[0]->unsent(), 0u);
}

TEST_F(SessionTest, going_away_completes_running_calls) {
  StreamPtr call = request("question");
  exchange();
  server_.go_away();
  exchange();
  EXPECT_FALSE(client_.takes_calls());
  EXPECT_FALSE(server_.finished());
  server_.finish(*requests_[0], {RpcCode::not_found, "nothing here"});
  exchange();
  EXPECT_EQ(call->verdict().message, "nothing here");
  EXPECT_TRUE(server_.finished());
  EXPECT_TRUE(client_.finished());
}

TEST_F(SessionTest, a_call_that_crosses_the_go_away_is_refused) {
  request("seen");
  exchange();
  server_.go_away();
  std::string to_client = output_of(server_);
  StreamPtr late = request("unseen");
  EXPECT_TRUE(server_.receive(output_of(client_)));
  EXPECT_TRUE(client_.receive(to_client));
  EXPECT_TRUE(late->over());
  EXPECT_TRUE(late->refused());
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(SessionTest, abort_ends_every_call) {
  StreamPtr first = request("a");
  StreamPtr second = request("b");
  exchange();
  server_.finish(*requests_[1], {RpcCode::aborted, "answered"});
  exchange();
  client_.abort({RpcCode::unavailable, "cable cut"});
  EXPECT_EQ(first->verdict().message, "cable cut");
  EXPECT_EQ(second->verdict().message, "answered");
  EXPECT_EQ(client_.calls(), 0u);
}

class SmallSession : public SessionTest {
 protected:
  SmallSession() : SessionTest(small()) {}

  static RpcLimits small() {
    RpcLimits limits;
    limits.max_message = 100;
    return limits;
  }
};

// The status must arrive before the reset that stops the rest of the request.
TEST_F(SmallSession, reports_why_a_request_is_rejected_while_it_is_still_sent) {
  StreamPtr call = request(std::string(1 << 20, 'q'));
  exchange();
  EXPECT_EQ(call->verdict().code, RpcCode::resource_exhausted);
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(server_.calls(), 0u);
}

}  // namespace
}  // namespace plim::net::rpc
