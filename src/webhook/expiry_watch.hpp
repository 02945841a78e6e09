// Detects that the certificate of a running webhook has expired.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim::webhook {

// API servers reject an expired certificate without notifying the webhook, so the webhook itself
// sees no problem. Belongs to one loop; co_await stop() before destroying it.
class ExpiryWatch {
 public:
  using Expires = std::function<WallTime()>;           // of the current certificate
  using OnExpired = std::function<void(WallTime at)>;  // called once for each certificate

  ExpiryWatch(const Executor& loop, Expires expires, OnExpired on_expired, Clock& clock);

  void start();
  Task<void> stop();

 private:
  Task<void> watch();

  Expires expires_;
  OnExpired on_expired_;
  Clock& clock_;
  TaskGroup tasks_;
};

}  // namespace plim::webhook
