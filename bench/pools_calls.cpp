// The kubelet's side of Allocate, one call after the other. usage: pools_calls SOCKET COUNT ID…
// prints microseconds: median and 99th percentile.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/loop.hpp"
#include "net/rpc.hpp"
#include "node/device_messages.hpp"

namespace plim {
namespace {

constexpr int kWarmUp = 200;

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
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - began;
    if (!reply.status.ok()) {
      std::fprintf(stderr, "pools_calls: %s\n", reply.status.to_error().message.c_str());
      co_return 1;
    }
    if (i >= 0) took.push_back(time.count());
  }
  std::sort(took.begin(), took.end());
  std::printf("%.1f %.1f\n", took[took.size() / 2], took[took.size() * 99 / 100]);
  channel->close();
  co_return 0;
}

}  // namespace
}  // namespace plim

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  plim::Loop loop;
  return plim::run_to_end(
      loop, plim::ask(argv[1], std::atoi(argv[2]), plim::node::DeviceIds(argv + 3, argv + argc)));
}
