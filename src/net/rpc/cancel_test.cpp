// Deadlines, cancelled calls and slow callers.
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "net/rpc/testing/rpc_peers.hpp"

namespace plim::net::rpc {
namespace {

using namespace std::chrono_literals;

class RpcCancelTest : public RpcTest {
 protected:
  RpcCancelTest() : group_(loop_.executor()) {}

  ~RpcCancelTest() override { run_to_end(loop_, group_.stop()); }

  Task<void> call_past_deadline(RpcClock::duration deadline) {
    auto start = RpcClock::now();
    RpcReply reply = co_await channel_->call("/t/sleep", "10000", deadline);
    EXPECT_EQ(reply.status.code, RpcCode::deadline_exceeded) << reply.status.message;
    EXPECT_LT(RpcClock::now() - start, 5s);
  }

  Task<void> sleep_long(bool& returned) {
    co_await channel_->call("/t/sleep", "10000", 20s);
    returned = true;
  }

  Task<void> read_for_ever(int& seen) {
    auto reader = co_await channel_->open("/t/many", "1000000000 100", kNoDeadline);
    std::string message;
    for (;;) {
      bool more = co_await reader->next(message);
      if (!more) break;
      ++seen;
    }
  }

  Task<void> handlers_have_ended() {
    return until([this] { return test_.running == 0; });
  }

  Task<void> handlers_run(int count) {
    return until([this, count] { return test_.running == count; });
  }

  Task<void> echo_works() {
    RpcReply reply = co_await channel_->call("/t/echo", "alive", 5s);
    EXPECT_TRUE(reply.status.ok()) << reply.status.message;
  }

  TaskGroup group_;
};

TEST_F(RpcCancelTest, a_late_call_ends_at_its_deadline_on_both_sides) {
  run(call_past_deadline(30ms));
  run(handlers_have_ended());
  EXPECT_GT(test_.deadline_ms, 0);
  EXPECT_LE(test_.deadline_ms, 30);
}

TEST_F(RpcCancelTest, calls_queued_behind_the_servers_limit_keep_their_deadlines) {
  for (int i = 0; i < 300; ++i) group_.spawn("late", call_past_deadline(50ms));
  run(group_.join());
  run(handlers_have_ended());
  run(echo_works());
}

// There is no client timer here: only the server can end this call.
TEST_F(RpcCancelTest, the_server_keeps_deadlines_by_itself) {
  int fd = connect_to(path_);
  write_all(fd, std::string(h2::kPreface) + h2::frame(4, 0, 0) +
                    request_headers(1, "/t/sleep", "20m") +
                    h2::frame(0, 1, 1, grpc_message("10000")));
  run(handlers_run(1));
  run(handlers_have_ended());
  run(pause(1ms));
  ::shutdown(fd, SHUT_WR);
  run(until([this] { return test_.server->connections() == 0; }));
  EXPECT_NE(h2::headers_in(read_until_closed(fd)).find("deadline exceeded"), std::string::npos);
  ::close(fd);
}

TEST_F(RpcCancelTest, a_cancelled_task_cancels_its_call) {
  bool returned = false;
  auto task = group_.spawn("call", sleep_long(returned));
  run(handlers_run(1));
  task.cancel();
  run(handlers_have_ended());
  EXPECT_EQ(group_.running(), 0u);
  EXPECT_FALSE(returned);
  run(echo_works());
}

TEST_F(RpcCancelTest, a_cancelled_reader_ends_the_stream) {
  int seen = 0;
  auto task = group_.spawn("read", read_for_ever(seen));
  run(until([&seen] { return seen > 1000; }));
  task.cancel();
  run(handlers_have_ended());
  EXPECT_EQ(group_.running(), 0u);
  run(echo_works());
}

TEST_F(RpcCancelTest, closing_the_channel_ends_its_calls) {
  bool returned = false;
  group_.spawn("call", sleep_long(returned));
  run(handlers_run(1));
  channel_->close();
  run(group_.join());
  EXPECT_TRUE(returned);
  run(handlers_have_ended());
  run(echo_works());
}

class RpcManyCancelled : public RpcCancelTest {
 protected:
  Task<void> open_and_drop(int calls) {
    for (int i = 0; i < calls; ++i) {
      auto reader = co_await channel_->open("/t/sleep", "1000", 5s);
      if (i % 50 == 0) co_await yield_to_loop();
    }
  }
};

TEST_F(RpcManyCancelled, leave_the_connection_sound) {
  run(open_and_drop(5000));
  run(handlers_have_ended());
  run(echo_works());
  EXPECT_EQ(test_.server->connections(), 1u);
}

class RpcStalled : public RpcCancelTest {
 protected:
  // Both ends are in this process: what the sender was allowed to write is all that can be buffered
  // anywhere.
  Task<void> stall_then_read() {
    auto reader = co_await channel_->open("/t/many", "100000 10000", kNoDeadline);
    std::string message;
    bool first = co_await reader->next(message);
    EXPECT_TRUE(first);
    int before = -1;
    while (before != test_.streamed) {
      before = test_.streamed;
      co_await pause(20ms);
    }
    EXPECT_LT(test_.streamed, 150);  // 1.5 MB: two windows, a socket buffer, 64 KB unsent
    co_await echo_works();           // other calls are not blocked
    for (int i = 0; i < 1000; ++i) {
      bool more = co_await reader->next(message);
      EXPECT_TRUE(more);
    }
    EXPECT_GT(test_.streamed, 1000);
  }
};

TEST_F(RpcStalled, reader_stops_the_sender) {
  run(stall_then_read());
  run(handlers_have_ended());
}

}  // namespace
}  // namespace plim::net::rpc
