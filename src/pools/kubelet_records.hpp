// What the kubelet of this node knows about devices: asked over its socket, else read from its
// file.
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
  std::vector<node::HeldDevices> stored;  // by uid: of ordinary init containers too
};

// Belongs to one loop.
class KubeletRecords {
 public:
  KubeletRecords(const Executor& loop, std::string kubelet_dir);

  // An error only when neither can be had.
  Task<Result<KubeletAnswer>> look();

  // "none", "static"; "" when the kubelet does not tell. Of its file, which who is in a container
  // does not see, else by asking: only the static manager has CPUs to give.
  Task<std::string> cpu_manager_policy();

 private:
  std::string directory_;
  std::shared_ptr<net::Channel> channel_;
};

}  // namespace plim::pools
