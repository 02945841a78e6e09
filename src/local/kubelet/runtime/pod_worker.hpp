// Runs one pod on its node, from its binding until nothing of it is left.
//
// worker_phase.hpp says what a worker does in which order. The work itself is done by
//   PodSandbox        directory, address, cgroup, volumes
//   ShimFollower      what the pod's shim reports
//   ContainerStarter  starting one container
//   ContainerStopper  stopping one or all of them
//   PodProbes         probes of running containers
//   PodReporter       status and events
//   PodResizer        resources of running containers
// All of them share one PodState. Every status is computed from its facts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/container_starter.hpp"
#include "local/kubelet/runtime/container_stopper.hpp"
#include "local/kubelet/runtime/pod_context.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"
#include "local/kubelet/runtime/pod_files.hpp"
#include "local/kubelet/runtime/pod_probes.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_resizer.hpp"
#include "local/kubelet/runtime/pod_sandbox.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/shim_follower.hpp"
#include "local/kubelet/runtime/worker_phase.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; co_await stop() before destroying it.
class PodWorker {
 public:
  PodWorker(PodContext& node, json::value pod);
  PodWorker(const PodWorker&) = delete;
  PodWorker& operator=(const PodWorker&) = delete;

  void start();
  void update(json::value pod);  // the object has changed
  void vanish();                 // the object is gone: end at once
  void retry_resize();           // resources on the node have become free
  void end_for_shutdown(Shutdown kind);
  // Leaves the processes running; the node's next process adopts them.
  Task<void> stop();
  Task<void> wait_ended();  // after end_for_shutdown()

  const json::value& pod() const { return pod_.object; }

  const PodFacts& facts() const { return pod_.facts; }

  const PodFiles& files() const { return pod_.files; }

  ShimClient& shim() { return shim_.client(); }

  const std::vector<ContainerRun>& runs() const { return shim_.runs(); }

  std::vector<int> processes(std::string_view container) const {
    return shim_.processes(container);
  }

  // True if the node has accepted the pod and the pod holds its resources.
  bool is_active() const { return holds_resources(phase_); }

  // True if the pod holds its resources although its object is gone.
  bool is_leaving() const { return is_active() && pod_.wish == PodWish::forget; }

 private:
  // What an earlier process left of the pod.
  enum class Left { nothing, processes, records };

  void enter(WorkerPhase next);

  // Goes through the phases one after another.
  Task<void> supervise();
  Task<PhaseResult> work();  // of the current phase

  // The phases `arriving` and `running`: runs life() as a task that a wish or the deadline cancels.
  Task<PhaseResult> live();
  Task<void> life(Left left);
  Task<Left> adopt();
  Task<void> run_containers();  // until pod_plan says that they are finished

  // The phases between the end of the last container and `ended` or `away`.
  Task<void> clean_up();
  Task<void> settle();

  PodState pod_;
  PodReporter report_;
  ShimFollower shim_;
  PodProbes probes_;
  ContainerStopper stopper_;
  ContainerStarter starter_;
  PodSandbox sandbox_;
  PodResizer resizer_;
  WorkerPhase phase_ = WorkerPhase::arriving;
  std::optional<PhaseResult> lived_;  // the result of life(); none while it runs
};

}  // namespace plim::local::kubelet
