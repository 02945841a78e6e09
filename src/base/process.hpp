// What every program of ours does first.
#pragma once

#include <sys/types.h>

namespace plim {

// Call it at the top of main(), before any thread:
// - a peer that hangs up is an error of write(2), not the end of the process (SIGPIPE ignored);
// - children can be waited for, whatever the parent had done to SIGCHLD;
// - 0, 1 and 2 are open, so that no file or socket ever gets those numbers and with them our
// output.
void prepare_process();

// For daemons: gives large blocks back to the kernel as soon as they are freed. Left to itself
// malloc raises its thresholds after the first large block and keeps tens of megabytes.
void keep_memory_small();

bool process_runs(pid_t pid);

}  // namespace plim
