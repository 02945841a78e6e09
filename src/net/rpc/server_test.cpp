// Sockets, connections and the shutdown of servers.
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "net/rpc/testing/rpc_peers.hpp"

namespace plim::net::rpc {
namespace {

using namespace std::chrono_literals;

class RpcServerTest : public RpcTest {
 protected:
  RpcServerTest() : group_(loop_.executor()) {}

  ~RpcServerTest() override { run_to_end(loop_, group_.stop()); }

  Task<RpcReply> call(std::string method, std::string request) {
    return channel_->call(std::move(method), std::move(request), 10s);
  }

  RpcCode code_of_echo() { return run_to_end(loop_, call("/t/echo", "x")).status.code; }

  Task<void> sleep_ok(int milliseconds, int& ok) {
    RpcReply reply = co_await call("/t/sleep", std::to_string(milliseconds));
    EXPECT_TRUE(reply.status.ok()) << reply.status.message;
    ok += reply.status.ok();
  }

  Task<void> sleep_lost(RpcCode& code) {
    RpcReply reply = co_await call("/t/sleep", "10000");
    code = reply.status.code;
  }

  Result<std::unique_ptr<RpcServer>> listen(const std::string& path) {
    return RpcServer::listen(loop_.executor(), path);
  }

  TaskGroup group_;
};

TEST_F(RpcServerTest, gives_its_socket_file_the_mode_and_removes_it) {
  struct stat file{};
  ASSERT_EQ(::stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
  test_.server.reset();
  EXPECT_NE(::stat(path_.c_str(), &file), 0);
}

TEST_F(RpcServerTest, keeps_the_socket_file_of_its_successor) {
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  auto successor = listen(path_);
  ASSERT_TRUE(successor);
  test_.server.reset();
  EXPECT_EQ(::access(path_.c_str(), F_OK), 0);
}

TEST_F(RpcServerTest, rejects_a_path_that_is_too_long) {
  auto server = listen(dir_ / std::string(100, 'x'));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Code::invalid);
  EXPECT_NE(server.error().message.find("1 to 107 fit"), std::string::npos);
  channel_ = Channel::unix_socket(loop_.executor(), dir_ / std::string(100, 'x'));
  EXPECT_EQ(code_of_echo(), RpcCode::invalid_argument);
}

TEST_F(RpcServerTest, replaces_only_a_stale_socket_file) {
  {
    ScriptedServer gone(dir_ / "stale", [](int) {});
  }
  EXPECT_TRUE(listen(dir_ / "stale"));
  std::ofstream(dir_ / "file") << "keep me";
  EXPECT_EQ(listen(dir_ / "file").error().code, Code::already_exists);
  EXPECT_EQ(listen(path_).error().code, Code::already_exists);
  EXPECT_EQ(listen(dir_ / "none/s").error().code, Code::not_found);
  EXPECT_EQ(code_of_echo(), RpcCode::ok);
}

TEST_F(RpcServerTest, without_a_listener_calls_fail_at_once) {
  channel_ = Channel::unix_socket(loop_.executor(), dir_ / "none");
  RpcReply reply = run_to_end(loop_, call("/t/echo", "x"));
  EXPECT_EQ(reply.status.code, RpcCode::unavailable);
  EXPECT_NE(reply.status.message.find(dir_ / "none"), std::string::npos);
}

TEST_F(RpcServerTest, the_channel_reconnects_after_a_restart) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(code_of_echo(), RpcCode::ok);
    test_.server.reset();
    TestServer next(loop_.executor(), path_);
    test_.server = std::move(next.server);
  }
  EXPECT_EQ(code_of_echo(), RpcCode::ok);
  test_.server.reset();
  EXPECT_EQ(code_of_echo(), RpcCode::unavailable);
}

TEST_F(RpcServerTest, drain_answers_running_calls_and_rejects_new_ones) {
  int ok = 0;
  for (int i = 0; i < 100; ++i) group_.spawn("call", sleep_ok(30, ok));
  run(until([this] { return test_.running == 100; }));
  run(test_.server->drain(5s));
  EXPECT_EQ(test_.running, 0);
  EXPECT_EQ(test_.server->connections(), 0u);
  run(group_.join());
  EXPECT_EQ(ok, 100);
  EXPECT_EQ(code_of_echo(), RpcCode::unavailable);
}

TEST_F(RpcServerTest, drain_cancels_calls_after_the_grace_period) {
  RpcCode code = RpcCode::ok;
  group_.spawn("call", sleep_lost(code));
  run(until([this] { return test_.running == 1; }));
  run(test_.server->drain(10ms));
  EXPECT_EQ(test_.running, 0);
  run(group_.join());
  EXPECT_EQ(code, RpcCode::unavailable);
}

class RpcHandOver : public RpcServerTest {
 protected:
  static constexpr int kCallers = 20;

  Task<void> call_until_stopped(const bool& stop, int& calls) {
    while (!stop) {
      RpcReply reply = co_await call("/t/echo", "x");
      EXPECT_TRUE(reply.status.ok()) << reply.status.message;
      ++calls;
    }
  }

  // A successor listens before the old server drains, as in a rolling restart. Each gets a share of
  // the calls, however busy the machine is.
  Task<void> replace_servers(int times, const int& calls, bool& stop) {
    for (int i = 0; i < times; ++i) {
      co_await pause(5ms);
      std::function<bool()> served = [&calls, enough = calls + kCallers] {
        return calls >= enough;
      };
      co_await until(std::move(served));
      EXPECT_EQ(::unlink(path_.c_str()), 0);
      auto successor = std::make_unique<TestServer>(loop_.executor(), path_);
      std::swap(test_.server, successor->server);
      co_await successor->server->drain(5s);
    }
    stop = true;
  }
};

TEST_F(RpcHandOver, under_load_loses_no_call) {
  bool stop = false;
  int calls = 0;
  for (int i = 0; i < kCallers; ++i) group_.spawn("caller", call_until_stopped(stop, calls));
  run(replace_servers(10, calls, stop));
  run(group_.join());
  EXPECT_GE(calls, 10 * kCallers);
}

TEST_F(RpcHandOver, retries_a_call_that_was_lost_in_the_backlog) {
  std::string path = dir_ / "full";
  Fd deaf(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(deaf.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(deaf.get(), 8), 0);
  channel_ = Channel::unix_socket(loop_.executor(), path);
  int ok = 0;
  group_.spawn("call", sleep_ok(0, ok));
  run(pause(5ms));  // connected and written, never accepted
  ASSERT_EQ(::unlink(path.c_str()), 0);
  TestServer successor(loop_.executor(), path);
  deaf.reset();
  run(group_.join());
  EXPECT_EQ(ok, 1);
  run(successor.server->drain(1s));
}

class RpcFewConnections : public RpcServerTest {
 protected:
  static RpcLimits few() {
    RpcLimits limits;
    limits.max_connections = 4;
    limits.max_connections_per_uid = 2;
    return limits;
  }

  TestServer few_{loop_.executor(), dir_ / "few", few()};
};

TEST_F(RpcFewConnections, further_ones_of_a_user_are_closed) {
  std::vector<std::shared_ptr<Channel>> channels;
  std::vector<RpcCode> codes;
  for (int i = 0; i < 3; ++i) {
    channel_ = Channel::unix_socket(loop_.executor(), dir_ / "few");
    channels.push_back(channel_);
    codes.push_back(code_of_echo());
  }
  EXPECT_EQ(codes, (std::vector{RpcCode::ok, RpcCode::ok, RpcCode::unavailable}));
  EXPECT_EQ(few_.server->connections(), 2u);
  channels.front()->close();
  run(until([this] { return few_.server->connections() == 1; }));
  EXPECT_EQ(code_of_echo(), RpcCode::ok);
}

class RpcNoDescriptors : public RpcServerTest {
 protected:
  // Opens descriptors until the limit of the process is reached.
  static std::vector<Fd> exhaust() {
    std::vector<Fd> taken;
    for (;;) {
      int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (fd < 0) return taken;
      taken.emplace_back(fd);
    }
  }

  static double cpu_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  }
};

TEST_F(RpcNoDescriptors, accepting_waits_without_spinning_and_recovers) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low{.rlim_cur = 200, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  run(pause(0s));  // creates the loop's own descriptors
  Fd peer(connect_to(path_));
  {
    auto taken = exhaust();
    double start = cpu_seconds();
    run(pause(250ms));
    EXPECT_LT(cpu_seconds() - start, 0.1);
    EXPECT_EQ(test_.server->connections(), 0u);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  run(until([this] { return test_.server->connections() == 1; }));
}

}  // namespace
}  // namespace plim::net::rpc
