// Which containers a pod's worker starts next, and when no start is left. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::local::kubelet {

struct PodPlan {
  // Containers to start, in this order, each as soon as its back-off allows.
  std::vector<std::string> start;
  // The pod has finished or failed for good: stop the sidecars that still run and write the last
  // status.
  bool finished = false;
};

// Init containers start one after another, and a sidecar among them has to be started before the
// next one; then all the others start. A container that ended starts again if the restart policy
// says so. In a new sandbox, as after a restart of the node, the init containers run again first.
PodPlan plan_pod(RestartPolicy policy, const PodFacts& facts);

}  // namespace plim::local::kubelet
