// The devices that plugins offer on a node, and which container holds which.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "node/device_messages.hpp"

namespace plim::local::kubelet {

using node::Device;
using node::DeviceFile;
using node::DeviceGrants;
using node::DeviceIds;
using node::DeviceMount;
using node::PluginOptions;
using node::PluginRegistration;
using node::PreferredRequest;

constexpr std::int64_t kNoNuma = -1;  // in place of the NUMA node of a device that has none

struct DeviceCount {
  std::string resource;  // "example.com/gpu"
  std::int64_t capacity = 0, allocatable = 0;
};

// Belongs to the node's loop.
class NodeDevices {
 public:
  virtual ~NodeDevices() = default;
  // Reserves devices for every container of the pod. The others reuse the devices of init
  // containers. Code::unavailable: not enough; the pod fails with UnexpectedAdmissionError.
  virtual Task<Result<void>> allocate(json::value pod) = 0;
  // Called before each start of a container. Calls the plugins and returns what they allocated.
  virtual Task<Result<DeviceGrants>> prepare(json::value pod, std::string container) = 0;
  virtual void release(const std::string& pod_uid) = 0;
  virtual std::vector<DeviceCount> counts() const = 0;
  virtual void on_change(std::function<void()> callback) = 0;  // as NodeImages::on_change()
  // Frees the devices of all other pods. Called after the first list of pods after a restart.
  virtual void keep_only(const std::vector<std::string>& pod_uids) = 0;
};

}  // namespace plim::local::kubelet
