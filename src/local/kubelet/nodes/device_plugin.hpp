// One device plugin that has registered: its socket and the devices it reports.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/devices.hpp"
#include "net/rpc.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop. Shared by the task that follows it and by calls in progress.
class DevicePlugin {
 public:
  DevicePlugin(const Executor& loop, Clock& clock, std::string socket, PluginOptions options)
      : clock_(clock),
        channel_(net::Channel::unix_socket(loop, std::move(socket))),
        options_(options) {}

  const PluginOptions& options() const { return options_; }

  // Reports the devices at the start and after each change, until the plugin is gone. A plugin may
  // register before it listens, so this waits a while for its socket.
  Task<Error> follow(std::function<void(std::vector<Device>)> report);

  Task<Result<DeviceIds>> prefer(PreferredRequest request);
  Task<Result<std::string>> allocate(DeviceIds ids);  // decode_grants() reads the result
  Task<Result<void>> pre_start(DeviceIds ids);

 private:
  Task<Result<std::string>> call(std::string method, std::string request);

  Clock& clock_;
  std::shared_ptr<net::Channel> channel_;
  PluginOptions options_;
};

}  // namespace plim::local::kubelet
