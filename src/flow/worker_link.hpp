// The controller's end of the socket of one worker. Belongs to one loop. It keeps itself alive
// while it waits, so it is held by shared_ptr and ended by close().
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
    std::function<void()> closed;  // called once: the worker has ended or sent an invalid frame
  };

  static std::shared_ptr<WorkerLink> start(const Executor& loop, Fd socket, Handlers handlers);
  virtual ~WorkerLink() = default;

  // Never blocks: bytes that the worker does not read yet are queued.
  virtual void send(std::string_view bytes) = 0;
  // After this call no handler is called.
  virtual void close() = 0;
};

}  // namespace plim::flow
