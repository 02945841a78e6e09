// Which devices a pod's containers need, and which of the free ones they get.
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
  // Of an init container that ends before the others start: they may use the devices again.
  bool passed_on = false;
};

// In the order containers start; only resources with a domain of their own, which plugins may
// offer.
std::vector<DeviceNeed> device_needs(const json::value& pod);

// "example.com/gpu", not "cpu" nor anything of kubernetes.io.
Result<void> check_extended_resource(std::string_view name);

// `count` of `free`: first those that must be among them, then those the plugin prefers, then any.
DeviceIds choose_devices(const DeviceIds& free, const DeviceIds& must, const DeviceIds& preferred,
                         std::size_t count);

}  // namespace plim::local::kubelet
