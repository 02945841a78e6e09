// Talks to the device plugins of a node over the sockets a kubelet has.
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
  // Laid out as a kubelet's: device-plugins/, pod-resources/, cpu_manager_state. Made if missing.
  std::string kubelet_dir;
  // The pods of the node, for those who ask who holds what.
  std::function<std::vector<json::value>()> pods = {};
};

// Belongs to the node's loop; co_await stop() before destroying it.
class DeviceManager : public NodeDevices {
 public:
  // Makes kubelet.sock anew, upon which plugins register again. Code::invalid: the directory's name
  // is too long for a socket.
  static Result<std::unique_ptr<DeviceManager>> start(Executor loop, Clock& clock,
                                                      DeviceManagerOptions options);
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local::kubelet
