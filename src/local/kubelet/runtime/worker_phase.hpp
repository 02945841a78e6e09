// The phases of a pod's worker, and which phase follows which. Pure. These are not the phases that
// a pod's status shows; pod_status.hpp has those.
//
//   phase       work                                          next phase
//   arriving    find what an earlier process left, or admit   accepted: running, rejected:
//   rejected,
//                                                             over: restored
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
// Wishes interrupt only the first two phases: `arriving` becomes suspending or withdrawn, `running`
// becomes stopping. What the work itself found comes before any wish.
#pragma once

#include <cstdint>
#include <optional>

#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

enum class WorkerPhase : std::uint8_t {
  arriving,    // the node has not accepted it yet
  rejected,    // the node refused it, and its status says so
  withdrawn,   // it has to go, and the node had not accepted it
  restored,    // it had ended before this process started
  running,     // accepted
  finishing,   // no container needs another start
  stopping,    // past its deadline, or a wish came
  suspending,  // its node goes and comes back with it
  cleaning,    // its containers have stopped
  away,        // suspended
  ended,       // nothing of it runs
  deleting,    // nothing of it runs and its object has to go
  gone,        // the object too
};

// What others want of a pod. A later one outranks all before it, and none is ever taken back.
enum class PodWish : std::uint8_t {
  run,
  suspend,    // the node shuts down and comes back: the API does not hear of it
  terminate,  // the node shuts down for good: the pod fails
  remove,     // the object has a deletion timestamp
  forget,     // the object is gone: stop at once
};

// How far the work of a phase has come.
enum class PhaseResult : std::uint8_t {
  none,      // not done
  accepted,  // by admission, or by an earlier process
  rejected,  // by admission
  over,      // the status said so when this process first saw the pod
  finished,  // as pod_plan says
  expired,   // past activeDeadlineSeconds
  done,
};

WorkerPhase next_phase(WorkerPhase phase, PhaseResult result, PodWish wish);

// The pod's requests count when the node admits others.
bool holds_resources(WorkerPhase phase);

// No process of the pod is left.
bool has_ended(WorkerPhase phase);

// Why the whole pod has failed when it enters `phase`; none: its containers say how it ended.
std::optional<PodFailure> failure_on(WorkerPhase phase, PodWish wish);

}  // namespace plim::local::kubelet
