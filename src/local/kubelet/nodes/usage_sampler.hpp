// The resource usage of a node's pods, as counters and as rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/kubelet/nodes/cgroups.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "node/pod_usage.hpp"

namespace plim::local::kubelet {

// Reads cgroups, or /proc if there are none. Rates cover the time since the last sample but one,
// so the owner calls sample() about every kWindow. Belongs to the node's loop.
class UsageSampler {
 public:
  static constexpr Nanos kWindow = std::chrono::seconds(10);

  UsageSampler(Clock& clock, const KubeletPods& pods, const NodeCgroups& cgroups)
      : clock_(clock), pods_(pods), cgroups_(cgroups) {}

  // Reads everything now. Begins a new window if the last one is old enough.
  const node::NodeUsage& sample();

  // As of the last sample.
  const node::NodeUsage& last() const { return last_; }

 private:
  struct Point {
    SteadyTime at;
    std::uint64_t cpu_ns;
  };

  struct History {
    Point window_start, newest;
    std::uint64_t seen = 0;  // the sample that touched it
  };

  node::PodUsage read_pod(const json::value& pod);
  node::ContainerUsage read_container(const json::value& pod, const json::value& status);
  std::uint64_t rate(const std::string& key, std::uint64_t cpu_ns, std::optional<WallTime> started);

  Clock& clock_;
  const KubeletPods& pods_;
  const NodeCgroups& cgroups_;
  node::NodeUsage last_;
  std::map<std::string, History> histories_;
  std::uint64_t samples_ = 0;
};

}  // namespace plim::local::kubelet
