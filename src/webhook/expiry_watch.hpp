// Notices when the certificate of a running webhook has expired.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace plim::webhook {

// API servers refuse an expired certificate without a word to the webhook, so that from inside all
// looks well. Belongs to one loop; co_await stop() before destroying it.
class ExpiryWatch {
 public:
  using Expires = std::function<WallTime()>;           // of the certificate that is used now
  using OnExpired = std::function<void(WallTime at)>;  // once for each certificate

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
