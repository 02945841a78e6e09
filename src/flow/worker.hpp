// A worker: takes slices from its controller over one stream socket and runs them one by one.
#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace plim::flow {

enum class WhenLost {
  leave,         // return; for workers that are threads
  exit_process,  // end at once, in the middle of a slice: nothing more may be committed
};

// Blocks until the controller says shutdown or is gone; an exit code. A second thread keeps the
// lease while a slice runs.
int run_worker(Fd controller, WhenLost when_lost, const Clock& clock);

// The hidden command "flow-worker": the controller is on standard output.
int run_worker_process(const Clock& clock);

}  // namespace plim::flow
