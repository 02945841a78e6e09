#include "net/rpc/testing/rpc_peers.hpp"

#include <cstring>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "net/rpc/codec.hpp"

namespace plim::net::rpc {

using namespace std::chrono_literals;

namespace {

struct Count {
  explicit Count(int& counter) : counter_(counter) { ++counter_; }

  ~Count() { --counter_; }

  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  int& counter_;
};

Task<RpcReply> echo(std::string request) {
  co_return RpcReply{.body = std::move(request)};
}

Task<RpcReply> big(std::string request) {
  co_return RpcReply{.body = std::string(std::stoul(request), 'x')};
}

Task<RpcReply> fail_as_asked(std::string request) {
  auto blank = request.find(' ');
  auto code = static_cast<RpcCode>(std::stoi(request.substr(0, blank)));
  co_return RpcReply{.status = {code, request.substr(blank + 1)}};
}

Task<RpcReply> sleep(TestServer& test, RpcCall& call, std::string request) {
  Count running(test.running);
  bool limited = call.deadline() != RpcClock::time_point::max();
  auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(call.deadline() - RpcClock::now());
  test.deadline_ms = limited ? static_cast<int>(left.count()) : 0;
  co_await system_clock().sleep(std::chrono::milliseconds(std::stoi(request)));
  co_return RpcReply{.body = "slept"};
}

Task<RpcStatus> many(TestServer& test, RpcCall& call, std::string request) {
  Count running(test.running);
  std::istringstream text(request);
  int count = 0;
  std::size_t size = 0;
  text >> count >> size;
  for (int i = 0; i < count; ++i) {
    std::string message = std::to_string(i) + " ";
    message.resize(std::max(message.size(), size), 'y');
    bool more = co_await call.write(std::move(message));
    if (!more) break;
    ++test.streamed;
  }
  co_return RpcStatus{};
}

Task<RpcReply> uid_of(RpcCall& call) {
  co_return RpcReply{.body = std::to_string(call.peer_uid())};
}

Task<RpcReply> throw_something() {
  throw std::runtime_error("a bug of the test");
  co_return RpcReply{};
}

}  // namespace

TestServer::TestServer(Executor loop, std::string path, RpcLimits limits) {
  auto listening = RpcServer::listen(std::move(loop), std::move(path), 0600, limits);
  if (!listening) {
    ADD_FAILURE() << listening.error().message;
    return;
  }
  server = std::move(*listening);
  server->unary("/t/echo", [](RpcCall&, std::string text) { return echo(std::move(text)); });
  server->unary("/t/big", [](RpcCall&, std::string text) { return big(std::move(text)); });
  server->unary("/t/fail",
                [](RpcCall&, std::string text) { return fail_as_asked(std::move(text)); });
  server->unary("/t/sleep", [this](RpcCall& call, std::string text) {
    return sleep(*this, call, std::move(text));
  });
  server->streaming("/t/many", [this](RpcCall& call, std::string text) {
    return many(*this, call, std::move(text));
  });
  server->unary("/t/uid", [](RpcCall& call, std::string) { return uid_of(call); });
  server->unary("/t/throw", [](RpcCall&, std::string) { return throw_something(); });
}

RpcTest::RpcTest() = default;

RpcTest::~RpcTest() {
  channel_->close();
  if (test_.server) run_to_end(loop_, test_.server->drain(0s));
  loop_.run_ready();
}

void RpcTest::run(Task<void> task) {
  run_to_end(loop_, std::move(task));
}

Task<void> RpcTest::pause(RpcClock::duration duration) {
  co_await system_clock().sleep(duration);
}

Task<void> RpcTest::until(std::function<bool()> condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) co_await system_clock().sleep(1ms);
  EXPECT_TRUE(condition());
}

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

ScriptedServer::ScriptedServer(std::string path, std::function<void(int fd)> script) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = address_of(path);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  thread_ = std::thread([listener = listener_, script = std::move(script)] {
    for (;;) {
      int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      script(fd);
      ::close(fd);
    }
  });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

int connect_to(const std::string& path) {
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = address_of(path);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_until_closed(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    auto n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

void read_request(int fd) {
  auto read_exactly = [fd](std::size_t size) {
    std::string out(size, 0);
    std::size_t have = 0;
    while (have < size) {
      auto n = ::read(fd, out.data() + have, size - have);
      if (n <= 0) return std::string();
      have += static_cast<std::size_t>(n);
    }
    return out;
  };
  read_exactly(h2::kPreface.size());
  for (;;) {
    std::string head = read_exactly(9);
    if (head.empty()) return;
    auto byte = [&head](std::size_t i) { return std::size_t{static_cast<unsigned char>(head[i])}; };
    auto size = byte(0) << 16 | byte(1) << 8 | byte(2);
    if (size > 0) read_exactly(size);
    bool data = byte(3) == 0;
    bool ends_stream = (byte(4) & 1) != 0;
    if (data && ends_stream) return;
  }
}

std::string grpc_message(std::string_view body) {
  std::string out;
  append_frame(out, body);
  return out;
}

std::string answer_headers(std::uint32_t stream) {
  return h2::frame(1, 4, stream,
                   h2::field(":status", "200") + h2::field("content-type", "application/grpc"));
}

std::string answer_data(std::uint32_t stream, std::string_view bytes) {
  return h2::frame(0, 0, stream, bytes);
}

std::string answer_trailers(std::uint32_t stream, std::string_view status) {
  return h2::frame(1, 5, stream, h2::field("grpc-status", status));
}

std::string request_headers(std::uint32_t stream, std::string_view path, std::string_view timeout) {
  std::string block = h2::field(":method", "POST") + h2::field(":scheme", "http") +
                      h2::field(":path", path) + h2::field(":authority", "localhost") +
                      h2::field("te", "trailers") + h2::field("content-type", "application/grpc");
  if (!timeout.empty()) block += h2::field("grpc-timeout", timeout);
  return h2::frame(1, 4, stream, block);
}

}  // namespace plim::net::rpc
