// Which devices a pod's containers need, and which free devices they get.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/nodes/devices.hpp"

namespace plim::local::kubelet {

struct DeviceNeed {
  std::string container, resource;
  std::int32_t count = 0;
  // True for an init container that ends before the others start: they may reuse its devices.
  bool passed_on = false;
};

// In the order in which containers start. Only resources with a domain of their own, which
// plugins may offer.
std::vector<DeviceNeed> device_needs(const json::value& pod);

// Accepts "example.com/gpu", rejects "cpu" and all names of kubernetes.io.
Result<void> check_extended_resource(std::string_view name);

// Chooses `count` of `free`: first the required devices, then those the plugin prefers, then any.
DeviceIds choose_devices(const DeviceIds& free, const DeviceIds& must, const DeviceIds& preferred,
                         std::size_t count);

}  // namespace plim::local::kubelet
