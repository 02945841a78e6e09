// Lets coroutines await SIGTERM, SIGINT, SIGHUP and SIGUSR2.
#pragma once

#include <memory>

#include "base/task.hpp"

namespace plim {

// One per process, on its main loop. The first SIGTERM or SIGINT requests a stop; the second ends
// the process at once with exit code 130, even if the loop hangs while stopping.
class Signals {
 public:
  struct Options {
    bool reload = false;  // SIGHUP requests a reload of files; otherwise it ends the process
    bool dump = false;    // SIGUSR2 requests a dump of the state
  };

  explicit Signals(const Executor& loop);  // only stop signals
  Signals(const Executor& loop, Options options);
  ~Signals();  // restores the default handling
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Completes when a stop was requested, at once if that was before.
  Task<void> stop_requested();
  // 0, SIGTERM or SIGINT.
  int stop_signal() const;
  // Completes for a SIGHUP since the last return; several in between count as one.
  Task<void> reload_requested();
  Task<void> dump_requested();  // the same for SIGUSR2

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace plim
