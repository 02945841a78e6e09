// How the shim makes processes, and when it runs itself.
#pragma once

#include <functional>
#include <sys/types.h>

namespace plim::local::kubelet {

// Runs `child`, which must end by exec or _exit, in a process made with these CLONE_ flags. The
// pid, or -1 with errno.
//
// A copy of ourselves: may do what it likes for as long as it likes.
pid_t clone_copy(unsigned long flags, const std::function<void()>& child);
// Borrows our memory, and we stand still until it has become another program or ended. Nothing is
// copied when it starts and nothing torn down when it becomes the program, which saves 1 to 2 ms at
// either end. What it allocates and does not free stays with us, and it must not wait for us. Under
// sanitizers, which do not expect this, it is a copy.
pid_t clone_borrowing(unsigned long flags, const std::function<void()>& child);

// Who tells the time of an end has to run soon after it: a short slice brings us to the front of
// our CPU's queue, with no more than our share. Right after a start the usual slice is better,
// since then the new program should run first. Processes we make have the usual one. Kernels
// before 6.12 take no notice, and nothing depends on it.
enum class Slice { usual, brief };
void set_own_slice(Slice slice);

}  // namespace plim::local::kubelet
