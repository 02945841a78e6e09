// Servers and misbehaving peers for the tests of net/rpc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/task.hpp"
#include "base/testing/temp_dir.hpp"
#include "net/h2/testing/frames.hpp"
#include "net/rpc.hpp"

namespace plim::net::rpc {

// Methods that every test can use. Requests are text:
//   /t/echo    answers with the request
//   /t/big     "n": n bytes
//   /t/fail    "code text": that status
//   /t/sleep   "ms": waits, then answers "slept"
//   /t/many    "count size": that many messages of size bytes, numbered at their start
//   /t/uid     the caller's uid
//   /t/throw   throws
struct TestServer {
  TestServer(Executor loop, std::string path, RpcLimits limits = {});

  std::unique_ptr<RpcServer> server;
  int running = 0;      // handlers that wait or stream
  int streamed = 0;     // messages written by /t/many
  int deadline_ms = 0;  // of the last /t/sleep, 0: none
};

// A loop with a test server and a channel to it.
class RpcTest : public ::testing::Test {
 protected:
  RpcTest();
  ~RpcTest() override;

  // Runs until the task has completed; then drains the server.
  void run(Task<void> task);
  Task<void> pause(RpcClock::duration duration);
  // Waits until `condition` is true, at most ten seconds.
  Task<void> until(std::function<bool()> condition);

  plim::testing::TempDir dir_;
  std::string path_ = dir_ / "s";
  Loop loop_;
  TestServer test_{loop_.executor(), path_};
  std::shared_ptr<Channel> channel_ = Channel::unix_socket(loop_.executor(), path_);
};

// Plain sockets and threads, for peers that break the protocol.
class ScriptedServer {
 public:
  // Runs the script for each connection, one after the other, with its descriptor.
  ScriptedServer(std::string path, std::function<void(int fd)> script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

 private:
  int listener_;
  std::thread thread_;
};

int connect_to(const std::string& path);
void write_all(int fd, std::string_view bytes);
std::string read_until_closed(int fd);
// Reads until a client has sent its first complete request (a DATA frame that ends the stream).
void read_request(int fd);

// gRPC as bytes.
std::string grpc_message(std::string_view body);
std::string answer_headers(std::uint32_t stream);
std::string answer_data(std::uint32_t stream, std::string_view bytes);
std::string answer_trailers(std::uint32_t stream, std::string_view status = "0");
std::string request_headers(std::uint32_t stream, std::string_view path,
                            std::string_view timeout = {});

}  // namespace plim::net::rpc
