// A worker: receives slices from its controller over a stream socket and runs them one by one.
#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace plim::flow {

enum class WhenLost {
  leave,         // return from run_worker(); for workers that are threads
  exit_process,  // exit at once, also during a slice: nothing may be committed after this
};

// Blocks until the controller sends shutdown or ends; returns an exit code. A second thread sends
// heartbeats while a slice runs.
int run_worker(Fd controller, WhenLost when_lost, const Clock& clock);

// The hidden command "flow-worker". Standard output is the socket of the controller.
int run_worker_process(const Clock& clock);

}  // namespace plim::flow
