// The phases of a pod's worker, and which phase follows which. Pure. These are not the phases that
// a pod's status shows; pod_status.hpp has those.
//
//   phase       work                                          next phase
//   arriving    find what an earlier process left, or admit   accepted: running,
//                                                             rejected: rejected, over: restored
//   running     start containers as pod_plan says             finished: finishing,
//                                                             expired: stopping
//   finishing   report the ends, stop the sidecars            cleaning
//   stopping    stop all containers                           cleaning; wish `suspend`: suspending
//   suspending  remove the sandbox, keep the devices          away
//   rejected    remove the sandbox, free the devices          ended
//   restored    the same                                      ended
//   withdrawn   the same, and write the last status           ended
//   cleaning    the same, and write the last status           ended
//   away        none: the node's next process adopts the pod  -
//   ended       wait for a wish                               `remove`: deleting, `forget`: gone
//   deleting    delete the object, again every 10 s           `forget`: gone
//   gone        none                                          -
//
// Wishes interrupt only the first two phases: `arriving` becomes suspending or withdrawn,
// `running` becomes stopping. A result of the work itself takes precedence over any wish.
#pragma once

#include <cstdint>
#include <optional>

#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

enum class WorkerPhase : std::uint8_t {
  arriving,    // the node has not accepted the pod yet
  rejected,    // the node rejected the pod, and the status says so
  withdrawn,   // the pod has to end before the node accepted it
  restored,    // the pod had ended before this process started
  running,     // accepted
  finishing,   // no container will be started again
  stopping,    // the deadline has passed, or a wish came
  suspending,  // the node shuts down and returns with the pod
  cleaning,    // all containers have stopped
  away,        // suspended
  ended,       // no process of the pod runs
  deleting,    // no process runs, and the object has to be deleted
  gone,        // the object is deleted too
};

// What others want from a pod. A later wish in this list outranks the earlier ones, and no wish is
// ever withdrawn.
enum class PodWish : std::uint8_t {
  run,
  suspend,    // the node shuts down and returns: nothing is written to the API
  terminate,  // the node shuts down for good: the pod fails
  remove,     // the object has a deletion timestamp
  forget,     // the object is gone: stop at once
};

// The result of the work of a phase.
enum class PhaseResult : std::uint8_t {
  none,      // not done
  accepted,  // by admission or by an earlier process
  rejected,  // by admission
  over,      // the status said so when this process first saw the pod
  finished,  // as pod_plan says
  expired,   // past activeDeadlineSeconds
  done,
};

WorkerPhase next_phase(WorkerPhase phase, PhaseResult result, PodWish wish);

// True if the pod's requests count when the node admits other pods.
bool holds_resources(WorkerPhase phase);

// True if no process of the pod is left.
bool has_ended(WorkerPhase phase);

// Why the whole pod has failed when it enters `phase`. None: the containers' results count.
std::optional<PodFailure> failure_on(WorkerPhase phase, PodWish wish);

}  // namespace plim::local::kubelet
