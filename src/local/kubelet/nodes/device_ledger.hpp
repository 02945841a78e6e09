// Records the devices of a node and which container holds which. Uses no sockets and no clock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/nodes/devices.hpp"

namespace plim::local::kubelet {

// The devices of one resource that one container holds.
struct Holding {
  std::string pod_uid, container, resource;
  std::map<std::int64_t, DeviceIds> ids_by_numa;  // -1: devices without a NUMA node
  std::string response;                           // of Allocate, for this container

  DeviceIds ids() const;  // sorted
};

class DeviceLedger {
 public:
  void set_devices(const std::string& resource, std::vector<Device> devices);
  void set_connected(const std::string& resource, bool connected);
  void drop_devices(const std::string& resource);  // capacity becomes 0

  bool knows(std::string_view resource) const;
  bool is_connected(std::string_view resource) const;
  std::vector<DeviceCount> counts() const;
  std::vector<Device> healthy(std::string_view resource) const;
  std::vector<std::string> resources() const;
  DeviceIds free(std::string_view resource) const;  // healthy and not allocated, sorted

  const Holding* find(std::string_view pod_uid, std::string_view container,
                      std::string_view resource) const;
  std::vector<const Holding*> held_by(std::string_view pod_uid, std::string_view container) const;
  void hold(std::string pod_uid, std::string container, std::string resource, const DeviceIds& ids,
            std::string response);
  void release(std::string_view pod_uid);
  bool keep_only(const std::set<std::string>& pod_uids);  // false: nothing changed

  // kubelet_internal_checkpoint.
  json::value checkpoint() const;
  Result<void> restore(const json::value& checkpoint);

 private:
  struct Resource {
    std::map<std::string, Device> devices;
    bool connected = false;
  };

  std::map<std::string, Resource, std::less<>> resources_;
  std::vector<Holding> holdings_;
};

}  // namespace plim::local::kubelet
