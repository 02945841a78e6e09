// Resizes the containers of one pod while they run.
//
// The API asks for resources in the spec (PodState::wanted). The node allocates them if they fit
// (facts.allocated), and then gives them to the containers (facts.actuated).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/runtime/container_stopper.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_state.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; its arguments outlive it. Only the pod's life calls it, so nothing
// starts a container meanwhile.
class PodResizer {
 public:
  PodResizer(PodState& pod, PodReporter& report, ContainerStopper& stopper)
      : pod_(pod), report_(report), stopper_(stopper) {}

  // Allocates what the API asks for, or defers it.
  void decide();
  // Writes allocated values to the cgroups of running containers, or stops containers that have to
  // restart for them.
  void actuate();

  // When a deferred or failed resize is tried again.
  SteadyTime retry_at() const { return retry_at_; }

  // Restores what an earlier process of the node had allocated to the pod in this note.
  void restore(const json::value& noted_pod);

 private:
  void allocate();
  void defer(std::string_view reason, std::string message);
  void fail_with(const std::string& message);
  std::vector<std::string> outdated() const;  // running containers
  void restart(const std::string& container);
  Result<void> check_memory(const std::vector<std::string>& containers) const;
  Result<void> apply(const std::vector<std::string>& containers);

  PodState& pod_;
  PodReporter& report_;
  ContainerStopper& stopper_;
  SteadyTime retry_at_ = SteadyTime::max();
};

}  // namespace plim::local::kubelet
