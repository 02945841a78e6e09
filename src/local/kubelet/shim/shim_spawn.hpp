// Starts a process of the shim's pod: namespaces, mounts, cgroups, user, then exec. Uses plain
// system calls in a process with one thread.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

// A time on both clocks.
struct Moment {
  WallTime wall{};
  Nanos monotonic{0};

  static Moment now();
  // `monotonic`, and the wall time at that moment.
  static Moment at(Nanos monotonic);
};

struct Spawned {
  pid_t pid = 0;
  Moment started;  // when the program started; everything before is preparation
  Fd out, err;     // our ends of the pipes, non-blocking
  // Keeps the mount namespace of the process alive, if it has its own. The kernel takes
  // milliseconds to free a namespace, and the last process in it counts as running until then.
  Fd mounts;
};

// Returns when the new program runs. Code::not_found: the program does not exist or cannot be
// executed.
Result<Spawned> spawn_container(const StartSpec& spec);
// Starts another program next to the main process `pid`, in its namespaces and as the same user.
Result<Spawned> spawn_beside(const StartSpec& container, pid_t pid,
                             const std::vector<std::string>& argv);

// Takes names such as "NET_ADMIN", as pods write them. Returns -1 for an unknown name.
int capability_number(std::string_view name);
// The capabilities that a container keeps by default.
std::uint64_t default_capabilities();

}  // namespace plim::local::kubelet
