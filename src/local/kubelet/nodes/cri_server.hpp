// Serves a node's images on cri.sock, where an agent looks for a container runtime.
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/images/images.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; co_await stop() before destroying it.
class CriServer {
 public:
  static Result<std::unique_ptr<CriServer>> start(Executor loop, Clock& clock, std::string socket,
                                                  const images::NodeImages& images);
  virtual ~CriServer() = default;
  virtual Task<void> stop() = 0;
};

}  // namespace plim::local::kubelet
