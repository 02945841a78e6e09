// Starts containers of one pod: image, environment, devices, cgroup, process, postStart hook.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/runtime/container_stopper.hpp"
#include "local/kubelet/runtime/env.hpp"
#include "local/kubelet/runtime/pod_probes.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/restart_backoff.hpp"
#include "local/kubelet/runtime/shim_follower.hpp"

namespace plim::local::kubelet {

// Keeps the back-off of every container and sets the waiting reason of its facts. Belongs to the
// node's loop; its arguments outlive it.
class ContainerStarter {
 public:
  ContainerStarter(PodState& pod, PodReporter& report, ShimFollower& shim, PodProbes& probes,
                   ContainerStopper& stopper)
      : pod_(pod), report_(report), shim_(shim), probes_(probes), stopper_(stopper) {}

  // Starts the container if its back-off allows it. Returns when to call again;
  // SteadyTime::max(): after the next change.
  Task<SteadyTime> try_start(std::string container);
  // The container has ended; its back-off starts now.
  void note_end(const std::string& container);

 private:
  struct Waits {
    RestartBackoff restarts, pulls;
    SteadyTime ended_at{};
    std::optional<SteadyTime> retry_at = {};  // after a failed pull or a missing object
  };

  Task<SteadyTime> start(std::string container);
  Task<std::shared_ptr<const images::Image>> pull(std::string container);
  void fail_pull(const std::string& container, const std::string& image, const Error& error);
  // None: call again at retry_at().
  Task<std::optional<StartSpec>> prepare(std::string container,
                                         std::shared_ptr<const images::Image> image);
  Task<Result<Environment>> environment_of(json::value spec,
                                           std::shared_ptr<const images::Image> image);
  Task<void> run_post_start(std::string container, std::string id);

  void show_pull_backoff(const std::string& container);
  void show_restart_backoff(const std::string& container, Nanos delay);
  // Sets the reason why nothing runs. The start is retried later.
  void put_off(const std::string& container, std::string_view reason, std::string message);
  SteadyTime retry_at(const std::string& container);

  PodState& pod_;
  PodReporter& report_;
  ShimFollower& shim_;
  PodProbes& probes_;
  ContainerStopper& stopper_;
  std::map<std::string, Waits> waits_;  // by container
};

}  // namespace plim::local::kubelet
