// Talks to the device plugins of a node over the same sockets as a kubelet.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/devices.hpp"

namespace plim::local::kubelet {

struct DeviceManagerOptions {
  // Same layout as a kubelet's: device-plugins/, pod-resources/, cpu_manager_state. Created if
  // missing.
  std::string kubelet_dir;
  // The pods of the node, for clients of the pod-resources API.
  std::function<std::vector<json::value>()> pods = {};
};

// Belongs to the node's loop; co_await stop() before destroying it.
class DeviceManager : public NodeDevices {
 public:
  // Creates kubelet.sock again, so that plugins register again. Code::invalid: the path of the
  // directory is too long for a socket.
  static Result<std::unique_ptr<DeviceManager>> start(Executor loop, Clock& clock,
                                                      DeviceManagerOptions options);
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local::kubelet
