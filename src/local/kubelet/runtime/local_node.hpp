// One node of the local cluster whose pods are real processes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/cgroups.hpp"
#include "local/kubelet/nodes/devices.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/node_options.hpp"
#include "local/kubelet/runtime/process_events.hpp"

namespace plim::local::kubelet {

// The services that a node uses; all of them outlive it.
struct NodeParts {
  Executor loop;
  std::shared_ptr<kube::Client> client;
  Clock& clock;
  images::NodeImages& images;
  NodeCgroups& cgroups;
  NodeDevices& devices;
  ProcessEvents* process_events = nullptr;  // null: the shims report the times of runs
};

// Belongs to one loop; co_await stop() before destroying it.
class LocalNode : public KubeletPods {
 public:
  static std::unique_ptr<LocalNode> create(NodeParts parts, NodeOptions options);

  // Registers the node and follows its pods. Adopts pods that an earlier process left running.
  // Returns when the node is Ready.
  virtual Task<Result<void>> start() = 0;
  // Ends all processes of pods with their grace periods. Call it before stop().
  virtual Task<void> end_pods(Shutdown kind) = 0;
  // Leaves the pods' processes running.
  virtual Task<void> stop() = 0;

  virtual const json::value& node() const = 0;  // the object as last written
  virtual const std::string& address() const = 0;
  virtual bool isolated() const = 0;  // containers get their own namespaces
};

}  // namespace plim::local::kubelet
