// SIGTERM, SIGINT, SIGHUP and SIGUSR2 as things to await.
#pragma once

#include <memory>

#include "base/task.hpp"

namespace plim {

// One per process, on its main loop. The first SIGTERM or SIGINT asks to stop; the second ends the
// process at once with exit code 130, even if the loop hangs in its drain.
class Signals {
 public:
  struct Options {
    bool reload = false;  // take SIGHUP as a wish to reread files; else it ends us, as by default
    bool dump = false;    // take SIGUSR2 as a wish to see what we know
  };

  explicit Signals(const Executor& loop);  // stop only
  Signals(const Executor& loop, Options options);
  ~Signals();  // default handling again
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Returns once a stop was asked for, at once if that was before.
  Task<void> stop_requested();
  // 0, SIGTERM or SIGINT.
  int stop_signal() const;
  // Returns for a SIGHUP since the last return; several in between count as one.
  Task<void> reload_requested();
  Task<void> dump_requested();  // the same for SIGUSR2

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace plim
