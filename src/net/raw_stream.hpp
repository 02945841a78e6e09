// An upgraded connection (WebSocket and others): raw bytes both ways after the 101 response.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::net {

// Belongs to one loop. One read and one write may run at the same time, but not two of a kind.
class RawStream {
 public:
  virtual ~RawStream() = default;
  virtual Task<Result<std::string>> read() = 0;  // "" at the end
  virtual Task<Result<void>> write(std::string bytes) = 0;
  virtual void close() = 0;  // at once; waits end with Code::cancelled
};

}  // namespace plim::net
