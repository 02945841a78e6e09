// Serves a node's images, pods and containers as a container runtime does.
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"

namespace plim::local::kubelet {

struct CriServerOptions {
  std::string socket;
  std::string version;  // of the runtime
};

// Belongs to the node's loop; co_await stop() before destroying it. Images and pods outlive it.
// stop() removes the socket.
class CriServer {
 public:
  static Result<std::unique_ptr<CriServer>> start(Executor loop, Clock& clock,
                                                  CriServerOptions options,
                                                  const images::NodeImages& images,
                                                  const KubeletPods& pods);
  virtual ~CriServer() = default;
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local::kubelet
