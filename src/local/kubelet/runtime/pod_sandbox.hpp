// Everything a pod needs before its first container starts: directory, address, cgroup, volumes,
// access to the API, shim.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_sources.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/shim_follower.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop; its arguments outlive it.
class PodSandbox {
 public:
  PodSandbox(PodState& pod, PodReporter& report, ShimFollower& shim)
      : pod_(pod), report_(report), shim_(shim) {}

  // Retries until everything exists.
  Task<void> make();
  // Writes the files of volumes again if they are due: ConfigMaps change and tokens expire.
  Task<void> refresh_volumes();

  SteadyTime refresh_at() const { return refresh_at_; }  // SteadyTime::max(): never

  // Removes everything but the directory, which holds the logs.
  Task<void> remove();

 private:
  Task<Result<void>> make_once();
  Task<Result<void>> fill_volumes();
  Task<void> make_api_access();

  PodState& pod_;
  PodReporter& report_;
  ShimFollower& shim_;
  PodSources sources_;  // the content of the volumes
  SteadyTime refresh_at_{}, tokens_until_{};
};

}  // namespace plim::local::kubelet
