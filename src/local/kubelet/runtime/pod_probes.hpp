// The startup, readiness and liveness probes of one pod's containers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/task.hpp"
#include "local/kubelet/runtime/pod_reporter.hpp"
#include "local/kubelet/runtime/pod_state.hpp"
#include "local/kubelet/runtime/probe_state.hpp"
#include "local/kubelet/runtime/shim_follower.hpp"

namespace plim::local::kubelet {

// Runs one task for each probe of a running container and writes `started` and `ready` of its
// facts. Belongs to the node's loop; state, reporter and follower outlive it.
class PodProbes {
 public:
  // Called to stop the container with this grace period.
  using OnFailure = std::function<void(const std::string& container, Nanos grace)>;

  PodProbes(PodState& pod, PodReporter& report, ShimFollower& shim, OnFailure on_failure);

  // A container that was adopted from an earlier process keeps the results of its probes.
  void start(const std::string& container);
  void stop(const std::string& container);
  void stop_all();

 private:
  // A probe of one run of a container.
  struct Probe {
    std::string container, id;
    ProbeKind kind;
    json::value spec;
  };

  Task<void> run(Probe probe);
  bool is_too_early(const Probe& probe);
  // False: the probe is finished.
  bool apply(const Probe& probe, const ProbeSettings& settings, const ProbeState& state, bool news);

  PodState& pod_;
  PodReporter& report_;
  ShimFollower& shim_;
  OnFailure on_failure_;
  std::map<std::string, std::vector<TaskGroup::Handle>> running_;  // by container
};

}  // namespace plim::local::kubelet
