// Calls between our own client and server.
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/rpc/testing/rpc_peers.hpp"

namespace plim::net::rpc {
namespace {

using namespace std::chrono_literals;

class RpcCallTest : public RpcTest {
 protected:
  Task<void> expect_reply(std::string method, std::string request, std::string body) {
    RpcReply reply = co_await channel_->call(method, request, 10s);
    EXPECT_TRUE(reply.status.ok()) << method << ": " << reply.status.message;
    EXPECT_EQ(reply.body.size(), body.size());
    EXPECT_TRUE(reply.body == body);
  }

  Task<void> expect_status(std::string method, std::string request, RpcStatus status) {
    RpcReply reply = co_await channel_->call(method, request, 10s);
    EXPECT_EQ(reply.status.code, status.code) << method;
    EXPECT_EQ(reply.status.message, status.message);
  }

  Task<void> read_many(int count, std::size_t size) {
    std::string request = std::to_string(count) + " " + std::to_string(size);
    auto reader = co_await channel_->open("/t/many", request, kNoDeadline);
    std::string message;
    int seen = 0;
    for (;;) {
      bool more = co_await reader->next(message);
      if (!more) break;
      EXPECT_EQ(std::stoi(message), seen++);
    }
    EXPECT_EQ(seen, count);
    EXPECT_TRUE(reader->status().ok()) << reader->status().message;
    bool again = co_await reader->next(message);
    EXPECT_FALSE(again);
  }

  Task<void> count_reply(int& ok) {
    RpcReply reply = co_await channel_->call("/t/sleep", "5", 10s);
    ok += reply.status.ok();
  }

  Task<void> many_at_once(int calls, int& ok) {
    TaskGroup group(loop_.executor());
    for (int i = 0; i < calls; ++i) group.spawn("call", count_reply(ok));
    co_await group.join();
  }
};

TEST_F(RpcCallTest, answers_a_unary_call) {
  run(expect_reply("/t/echo", "hello", "hello"));
  run(expect_reply("/t/echo", "", ""));
}

TEST_F(RpcCallTest, carries_bodies_of_any_size) {
  for (std::size_t size : {1ul, 16'379ul, 16'384ul, 65'535ul, 65'536ul, 262'144ul, 4ul << 20})
    run(expect_reply("/t/echo", std::string(size, 'z'), std::string(size, 'z')));
  std::size_t large = 15u << 20;
  run(expect_reply("/t/big", std::to_string(large), std::string(large, 'x')));
}

TEST_F(RpcCallTest, passes_error_texts_unchanged) {
  for (std::string text : {"plain", "", "50% of caf\xc3\xa9\nnew line", " edge blanks ", "100%25"})
    for (int code : {1, 5, 13, 16}) {
      RpcStatus status{static_cast<RpcCode>(code), text};
      run(expect_status("/t/fail", std::to_string(code) + " " + text, status));
    }
}

TEST_F(RpcCallTest, an_unknown_method_is_unimplemented) {
  RpcStatus status{RpcCode::unimplemented, "unknown method /t/none"};
  run(expect_status("/t/none", "", status));
}

TEST_F(RpcCallTest, a_handler_that_throws_fails_only_its_call) {
  RpcStatus status{RpcCode::internal, "the handler failed"};
  run(expect_status("/t/throw", "", status));
  run(expect_reply("/t/echo", "alive", "alive"));
}

TEST_F(RpcCallTest, tells_the_handler_the_uid_of_the_caller) {
  run(expect_reply("/t/uid", "", std::to_string(::geteuid())));
}

TEST_F(RpcCallTest, streams_in_order) {
  run(read_many(0, 0));
  run(read_many(1000, 1000));
  run(read_many(20, 300'000));
}

TEST_F(RpcCallTest, a_thousand_at_once_are_all_answered) {
  int ok = 0;
  run(many_at_once(1000, ok));
  EXPECT_EQ(ok, 1000);
  EXPECT_EQ(test_.server->connections(), 1u);
}

class RpcSmallMessages : public RpcCallTest {
 protected:
  static RpcLimits small() {
    RpcLimits limits;
    limits.max_message = 1000;
    return limits;
  }

  TestServer strict_{loop_.executor(), dir_ / "strict", small()};
};

TEST_F(RpcSmallMessages, the_client_rejects_a_large_response) {
  channel_ = Channel::unix_socket(loop_.executor(), path_, small());
  RpcStatus status{RpcCode::resource_exhausted,
                   "message of 1001 bytes is larger than the limit of 1000"};
  run(expect_status("/t/big", "1001", status));
  run(expect_reply("/t/big", "1000", std::string(1000, 'x')));
}

TEST_F(RpcSmallMessages, the_server_rejects_a_large_request) {
  channel_ = Channel::unix_socket(loop_.executor(), dir_ / "strict");
  RpcStatus status{RpcCode::resource_exhausted,
                   "message of 3000000 bytes is larger than the limit of 1000"};
  run(expect_status("/t/echo", std::string(3'000'000, 'q'), status));
  run(expect_reply("/t/echo", "alive", "alive"));
}

}  // namespace
}  // namespace plim::net::rpc
