// The setup that all our programs share.
#pragma once

#include <sys/types.h>

namespace plim {

// Call it at the start of main(), before any thread:
// - a peer that closes its end is an error of write(2) and does not end the process (ignores
// SIGPIPE);
// - children can be waited for, whatever the parent had set for SIGCHLD;
// - 0, 1 and 2 are open, so that no file or socket gets one of these numbers and receives our
// output.
void prepare_process();

// For daemons: returns large blocks to the kernel as soon as they are freed. By default malloc
// raises its thresholds after the first large block and keeps tens of megabytes.
void keep_memory_small();

bool process_runs(pid_t pid);

}  // namespace plim
