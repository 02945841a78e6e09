// What a pod on a simulated node does, and the status that it then has. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/types.hpp"

namespace plim::local::sim {

// The pod's annotations plimsoll.io/sim-…. A value that cannot be parsed counts as missing.
struct SimWish {
  Nanos start_delay{0};
  std::optional<Nanos> duration = {};  // none: runs until it is deleted
  int exit_code = 0;
  std::int64_t milli_cpu = 0;     // simulated usage
  std::int64_t memory_bytes = 0;  // likewise
};

SimWish wish_of(const kube::Pod& pod);

enum class PodStep {
  none,     // nothing to do until the pod changes
  start,    // containers begin to run
  finish,   // containers end
  restart,  // after the back-off that follows an end
  resize,   // the spec asks for other resources
  recover,  // the pod was marked not ready because its node was
  remove,   // the pod was deleted
};

struct NextStep {
  PodStep step = PodStep::none;
  Nanos after{0};
};

// The next step for a pod with this status, and the time until then. Does not consider images.
NextStep next_step(const kube::Pod& pod, const SimWish& wish, WallTime now);

// True if the node lifecycle controller has marked the pod not ready because of its node.
bool is_thought_silent(const kube::Pod& pod);

struct PodPlace {
  std::string host_ip, pod_ip;
};

// Merge patches for the subresource status. They contain the pod's uid, so that they never change
// a new pod of the same name.
json::value creating_status(const kube::Pod& pod, const PodPlace& place, WallTime now,
                            std::string_view waiting_for = "ContainerCreating",
                            std::string_view message = "");
json::value running_status(const kube::Pod& pod, const PodPlace& place, WallTime now);
json::value finished_status(const kube::Pod& pod, const SimWish& wish, WallTime now);
// Containers run again after their back-off.
json::value restarted_status(const kube::Pod& pod, WallTime now);
// Containers have the resources of the spec.
json::value resized_status(const kube::Pod& pod, WallTime now);
// The pod is ready again.
json::value recovered_status(const kube::Pod& pod, WallTime now);

}  // namespace plim::local::sim
