// Stops containers of one pod: preStop hook, signal, grace period, kill.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "local/kubelet/runtime/pod_probes.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/shim_follower.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; its arguments outlive it.
class ContainerStopper {
 public:
  ContainerStopper(PodState& pod, PodReporter& report, ShimFollower& shim, PodProbes& probes)
      : pod_(pod), report_(report), shim_(shim), probes_(probes) {}

  // Stops every container and returns when none runs. Sidecars serve the others, so they stop
  // last, in the reverse order of their start.
  Task<void> stop_all();
  // Stops one container, whose grace period began at `begin`.
  Task<void> stop(std::string container, SteadyTime begin, Nanos grace);
  // Starts a task that stops the container; its grace period begins now.
  void stop_soon(const std::string& container, Nanos grace);

 private:
  void spawn_stop(const std::string& container, SteadyTime begin, Nanos grace);
  Task<void> run_pre_stop(std::string container, std::string id, Nanos left);
  Task<void> send_signal(std::string container, std::string id);
  Task<void> kill(std::string container, std::string id);
  SteadyTime grace_end(SteadyTime begin, Nanos grace) const;

  PodState& pod_;
  PodReporter& report_;
  ShimFollower& shim_;
  PodProbes& probes_;
};

}  // namespace plim::local::kubelet
