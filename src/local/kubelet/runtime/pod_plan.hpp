// What a pod's worker has to start next, and when there is nothing left to start. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

struct PodPlan {
  // Containers to start, in this order, each as soon as its back-off allows.
  std::vector<std::string> start;
  // The work is done or has failed for good: stop what still runs (sidecars) and write the last
  // status.
  bool finished = false;
};

// Init containers come one after another, a sidecar among them has to be started before the next;
// then all the others. What ended is started again where the restart policy says so; in a new
// sandbox, as after a restart of the node, init containers come again before that.
PodPlan plan_pod(RestartPolicy policy, const PodFacts& facts);

}  // namespace plim::local::kubelet
