// Which processes come from which, read from /proc.
#pragma once

#include <string_view>
#include <sys/types.h>
#include <vector>

namespace plim::local::kubelet {

// Children, their children and so on; not `root` itself, no zombies.
std::vector<pid_t> descendants_of(pid_t root);
// Those with this entry ("NAME=value") in the environment they were started with.
bool has_environment_entry(pid_t pid, std::string_view entry);
// SIGKILL to every descendant, again and again until none is left: new ones may be forked while the
// list is read. Gives up after a second of trying; false then.
bool kill_descendants(pid_t root);

}  // namespace plim::local::kubelet
