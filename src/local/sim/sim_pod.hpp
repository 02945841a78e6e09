// What a pod on a simulated node does, and the status it then has. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/types.hpp"

namespace plim::local::sim {

// From the pod's annotations plimsoll.io/sim-…; what cannot be read counts as not given.
struct SimWish {
  Nanos start_delay{0};
  std::optional<Nanos> duration = {};  // none: runs until it is deleted
  int exit_code = 0;
  std::int64_t milli_cpu = 0;     // what it pretends to use
  std::int64_t memory_bytes = 0;  // likewise
};

SimWish wish_of(const kube::Pod& pod);

enum class PodStep {
  none,     // nothing to do, or nothing before the pod changes
  start,    // containers begin to run
  finish,   // they end
  restart,  // after the wait that follows an end
  recover,  // its node was thought silent, and the pod no longer ready
  remove,   // the pod was deleted
};

struct NextStep {
  PodStep step = PodStep::none;
  Nanos after{0};
};

// What comes next for a pod of this status, and in how long. Images are not considered.
NextStep next_step(const kube::Pod& pod, const SimWish& wish, WallTime now);

// Somebody who had not heard of the pod's node for a while has said so in the pod's status.
bool is_thought_silent(const kube::Pod& pod);

struct PodPlace {
  std::string host_ip, pod_ip;
};

// Merge patches for the subresource status. They hold the pod's uid, so that they never meet its
// successor.
json::value creating_status(const kube::Pod& pod, const PodPlace& place, WallTime now,
                            std::string_view waiting_for = "ContainerCreating",
                            std::string_view message = "");
json::value running_status(const kube::Pod& pod, const PodPlace& place, WallTime now);
json::value finished_status(const kube::Pod& pod, const SimWish& wish, WallTime now);
// Containers run again after their back-off.
json::value restarted_status(const kube::Pod& pod, WallTime now);
// Ready as before.
json::value recovered_status(const kube::Pod& pod, WallTime now);

}  // namespace plim::local::sim
