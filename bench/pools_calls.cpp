// The kubelet's side of Allocate, one call after the other. usage: pools_calls SOCKET COUNT ID…
// prints microseconds: median and 99th percentile. pools_calls --bare COUNT: the same of two
// processes that hand each other as many bytes and do nothing with them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "base/loop.hpp"
#include "net/rpc.hpp"
#include "node/device_messages.hpp"

namespace plim {
namespace {

constexpr int kWarmUp = 200;
constexpr std::size_t kBareBytes = 128;

void print_times(std::vector<double> took) {
  std::sort(took.begin(), took.end());
  std::printf("%.1f %.1f\n", took[took.size() / 2], took[took.size() * 99 / 100]);
}

double microseconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
      .count();
}

// What is left is the kernel's: two system calls on each side, and waking a process twice.
int bare_round_trips(int count) {
  int ends[2];
  char bytes[kBareBytes] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    ::close(ends[0]);
    while (::read(ends[1], bytes, sizeof bytes) > 0 && ::write(ends[1], bytes, sizeof bytes) > 0) {
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<double> took;
  for (int i = -kWarmUp; i < count; ++i) {
    const auto began = std::chrono::steady_clock::now();
    if (::write(ends[0], bytes, sizeof bytes) <= 0 || ::read(ends[0], bytes, sizeof bytes) <= 0)
      return 1;
    if (i >= 0) took.push_back(microseconds_since(began));
  }
  ::close(ends[0]);
  print_times(std::move(took));
  return 0;
}

Task<int> ask(std::string socket, int count, node::DeviceIds ids) {
  Executor loop = co_await current_loop();
  auto channel = net::Channel::unix_socket(loop, std::move(socket));
  const std::string request = node::encode_allocate_request(ids);
  std::vector<double> took;
  for (int i = -kWarmUp; i < count; ++i) {
    std::string body = request;
    const auto began = std::chrono::steady_clock::now();
    const net::RpcReply reply = co_await channel->call("/v1beta1.DevicePlugin/Allocate",
                                                       std::move(body), std::chrono::seconds(5));
    const double time = microseconds_since(began);
    if (!reply.status.ok()) {
      std::fprintf(stderr, "pools_calls: %s\n", reply.status.to_error().message.c_str());
      co_return 1;
    }
    if (i >= 0) took.push_back(time);
  }
  print_times(std::move(took));
  channel->close();
  co_return 0;
}

}  // namespace
}  // namespace plim

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--bare")
    return plim::bare_round_trips(std::atoi(argv[2]));
  if (argc < 4) return 2;
  plim::Loop loop;
  return plim::run_to_end(
      loop, plim::ask(argv[1], std::atoi(argv[2]), plim::node::DeviceIds(argv + 3, argv + argc)));
}
