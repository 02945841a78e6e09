// The kubelet's records of devices that containers hold: from its pod resources socket, else from
// its checkpoint file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "net/rpc.hpp"
#include "node/pod_resources.hpp"

namespace plim::pools {

struct KubeletAnswer {
  std::vector<node::HeldDevices> asked;   // by name of the pod
  std::vector<node::HeldDevices> stored;  // by uid; includes ordinary init containers
};

// Belongs to one loop.
class KubeletRecords {
 public:
  KubeletRecords(const Executor& loop, std::string kubelet_dir);

  // Fails only if both the socket and the file fail.
  Task<Result<KubeletAnswer>> look();

  // "none" or "static"; "" if unknown. Reads the kubelet's file, which a container may not see,
  // else asks the socket: only the static policy reports allocatable CPUs.
  Task<std::string> cpu_manager_policy();

 private:
  std::string directory_;
  std::shared_ptr<net::Channel> channel_;
};

}  // namespace plim::pools
