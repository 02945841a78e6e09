// The times of a pod's runs, as exact as this machine can measure them.
#pragma once

#include <vector>

#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

// The number of the start of the container, from the tag that make_start_spec() wrote.
int restart_of(const ShimRun& run);

// A shim reads its clock before the program is loaded, and again only when it gets a core after
// the end. The kernel's process events are more exact. Each event is delivered once, so the times
// are also kept in the pod's directory for the node's next process. Belongs to the node's loop.
class RunRecords {
 public:
  explicit RunRecords(PodState& pod) : pod_(pod) {}

  const std::vector<ContainerRun>& all() const { return runs_; }  // the newest 100

  void add(const ShimRun& run);
  void end(const ShimRun& run);
  // Both wait a moment for the kernel's event.
  Task<void> correct_start(ShimRun run);
  Task<ShimRun> correct_end(ShimRun run);  // the same run with better times
  // Reads the times that an earlier process kept.
  void use_kept_times(ShimRun& run) const;

 private:
  ContainerRun* find(const ShimRun& run);

  PodState& pod_;
  std::vector<ContainerRun> runs_;  // oldest first
};

}  // namespace plim::local::kubelet
