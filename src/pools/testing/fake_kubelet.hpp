// The kubelet's side of the device plugin API: accepts registrations and watches device lists.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/task.hpp"
#include "net/rpc.hpp"
#include "node/device_messages.hpp"

namespace plim::pools::testing {

// Belongs to one loop; co_await stop() before destroying it.
class FakeKubelet {
 public:
  FakeKubelet(const Executor& loop, std::string directory)
      : loop_(loop), directory_(std::move(directory)), changed(loop), tasks_(loop) {
    PLIM_ASSERT(make_directories(directory_).has_value());
  }

  // Does what a starting kubelet does: removes every socket, then listens.
  void start() {
    for (const auto& file : std::filesystem::directory_iterator(directory_))
      if (file.path().extension() == ".sock") std::filesystem::remove(file.path());
    auto made = net::RpcServer::listen(loop_, directory_ + "/kubelet.sock");
    PLIM_ASSERT(made.has_value());
    server_ = std::move(*made);
    server_->unary("/v1beta1.Registration/Register", [this](net::RpcCall&, std::string body) {
      return register_plugin(std::move(body));
    });
  }

  Task<void> stop() {
    tasks_.cancel();
    co_await tasks_.join();
    if (server_) co_await server_->drain(std::chrono::seconds(0));
    server_.reset();
    channels_.clear();
    devices.clear();
  }

  Task<void> end() {
    co_await stop();
    co_await tasks_.stop();
  }

  // The answer's body, or the error.
  Task<Result<std::string>> call(std::string resource, std::string method, std::string body) {
    auto channel = channels_.at(resource);
    std::string path = "/v1beta1.DevicePlugin/" + method;
    const net::RpcReply reply =
        co_await channel->call(std::move(path), std::move(body), std::chrono::seconds(5));
    if (!reply.status.ok()) co_return reply.status.to_error();
    co_return reply.body;
  }

  // By resource, as last received.
  std::map<std::string, std::vector<node::Device>> devices;
  std::map<std::string, std::size_t> message_sizes;
  int registrations = 0;

 private:
  Task<net::RpcReply> register_plugin(std::string body) {
    auto registration = node::decode_registration(body);
    PLIM_ASSERT(registration.has_value());
    ++registrations;
    const std::string socket = directory_ + "/" + registration->endpoint;
    // The plugin must accept connections before it registers.
    PLIM_ASSERT(accepts(socket));
    net::RpcLimits limits;
    limits.max_message = 4u << 20;  // the kubelet's limit
    auto channel = net::Channel::unix_socket(loop_, socket, limits);
    channels_[registration->resource] = channel;
    tasks_.spawn("follow", follow(registration->resource, channel));
    co_return net::RpcReply();
  }

  static bool accepts(const std::string& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    PLIM_ASSERT(socket.size() < sizeof address.sun_path);
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    const Fd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return ::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
           0;
  }

  Task<void> follow(std::string resource, std::shared_ptr<net::Channel> channel) {
    auto stream =
        co_await channel->open("/v1beta1.DevicePlugin/ListAndWatch", "", net::kNoDeadline);
    for (std::string message;;) {
      const bool more = co_await stream->next(message);
      if (!more) break;
      message_sizes[resource] = message.size();
      devices[resource] = *node::decode_devices(message);
      changed.notify();
    }
    if (channels_.contains(resource) && channels_[resource] == channel) devices.erase(resource);
    changed.notify();
  }

  Executor loop_;
  std::string directory_;

 public:
  Event changed;

 private:
  std::unique_ptr<net::RpcServer> server_;
  std::map<std::string, std::shared_ptr<net::Channel>> channels_;
  TaskGroup tasks_;
};

}  // namespace plim::pools::testing
