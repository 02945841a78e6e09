// How the shim creates processes and sets its own CPU time slice.
#pragma once

#include <functional>
#include <sys/types.h>

namespace plim::local::kubelet {

// Runs `child`, which must end by exec or _exit, in a process created with these CLONE_ flags.
// Returns the pid, or -1 with errno.
//
// The child is a copy of this process. It may run for any time and allocate memory.
pid_t clone_copy(unsigned long flags, const std::function<void()>& child);
// The child shares our memory, and we wait until it has called exec or ended. Nothing is copied
// at its start or freed at exec, which saves 1 to 2 ms each time. Memory that it allocates and does
// not free stays allocated here, and it must not wait for us. Under sanitizers, which do not
// support
// this, the child is a copy.
pid_t clone_borrowing(unsigned long flags, const std::function<void()>& child);

// The shim has to run soon after a process ends, to record the time of the end. A short slice
// moves it to the front of the queue of its CPU without a larger share. Right after a start the
// default slice is better, because then the new program should run first. New processes get the
// default slice. Kernels before 6.12 ignore the slice, and nothing depends on it.
enum class Slice { usual, brief };
void set_own_slice(Slice slice);

}  // namespace plim::local::kubelet
