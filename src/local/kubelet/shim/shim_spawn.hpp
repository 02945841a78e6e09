// How the shim starts a process of its pod: namespaces, mounts, cgroups, user, then exec. Plain
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

// When something happened, by both clocks.
struct Moment {
  WallTime wall{};
  Nanos monotonic{0};

  static Moment now();
  // That time of the clock that nobody sets, and what the other one showed then.
  static Moment at(Nanos monotonic);
};

struct Spawned {
  pid_t pid = 0;
  Moment started;  // of the program: everything before it was preparation
  Fd out, err;     // our ends of the pipes, non-blocking
  // Holds its mount namespace, if it has one. The kernel takes milliseconds to clear one up, and a
  // process that is the last in it counts as running until then.
  Fd mounts;
};

// Returns when the new program runs. Code::not_found: there is no such program, or it cannot be
// executed.
Result<Spawned> spawn_container(const StartSpec& spec);
// Another program beside the main process `pid`, in its namespaces and as the same user.
Result<Spawned> spawn_beside(const StartSpec& container, pid_t pid,
                             const std::vector<std::string>& argv);

// Names such as "NET_ADMIN", as pods write them; -1 for an unknown one.
int capability_number(std::string_view name);
// What a container keeps when its pod says nothing.
std::uint64_t default_capabilities();

}  // namespace plim::local::kubelet
