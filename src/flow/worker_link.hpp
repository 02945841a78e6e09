// The controller's end of a worker's line. Belongs to one loop; keeps itself alive while it waits,
// so it is held by shared_ptr and ended by close().
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/fd.hpp"
#include "base/task.hpp"
#include "flow/protocol.hpp"

namespace plim::flow {

class WorkerLink {
 public:
  struct Handlers {
    std::function<void(const Frame&)> frame;
    std::function<void()> closed;  // once: the worker has left, or wrote nonsense
  };

  static std::shared_ptr<WorkerLink> start(const Executor& loop, Fd socket, Handlers handlers);
  virtual ~WorkerLink() = default;

  // Never waits: what the worker does not take yet is kept.
  virtual void send(std::string_view bytes) = 0;
  // No handler is called any more.
  virtual void close() = 0;
};

}  // namespace plim::flow
