// Finds descendants of processes in /proc.
#pragma once

#include <string_view>
#include <sys/types.h>
#include <vector>

namespace plim::local::kubelet {

// Children, their children and so on, without `root` itself and without zombies.
std::vector<pid_t> descendants_of(pid_t root);
// The processes that were started with this entry ("NAME=value") in their environment.
bool has_environment_entry(pid_t pid, std::string_view entry);
// Sends SIGKILL to every descendant until none is left: processes may fork while the list is
// read. Gives up after a second and returns false.
bool kill_descendants(pid_t root);

}  // namespace plim::local::kubelet
