// The Node object of a process node. Pure, except that it reads facts about this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/devices.hpp"
#include "local/kubelet/runtime/node_options.hpp"

namespace plim::local::kubelet {

struct MachineFacts {
  std::int64_t milli_cpus = 0, memory_bytes = 0, storage_bytes = 0;
  std::string architecture;  // "amd64"
  std::string kernel, os_image, machine_id, boot_id;
};

MachineFacts look_at_machine(const std::string& state_dir);

struct NodeFacts {
  std::string address;
  MachineFacts machine;
  bool has_cgroups = false;
  std::string why_no_cgroups = {};
  std::vector<std::shared_ptr<const images::Image>> images = {};
  std::vector<DeviceCount> devices = {};
};

// Without its status.
json::value make_node(const NodeOptions& options);
// `before` is the previous status. Unchanged conditions keep their time, and conditions of other
// writers stay.
json::value make_node_status(const NodeOptions& options, const NodeFacts& facts,
                             const json::value& before, WallTime now);

}  // namespace plim::local::kubelet
