// What the pods of a node use, as counters and as rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/nodes/cgroups.hpp"
#include "local/nodes/kubelet_pods.hpp"

namespace plim::local {

struct ContainerUsage {
  std::string name, id, image;  // id without its scheme
  std::optional<WallTime> started = {};
  CgroupUsage used = {};
  std::uint64_t nano_cores = 0;  // over the last window
};

struct PodUsage {
  std::string ns, name, uid;
  std::string cgroup = {};  // "/plimsoll-default/n1/kubepods/pod…"
  std::optional<WallTime> started = {};
  CgroupUsage used = {};
  std::uint64_t nano_cores = 0;
  std::vector<ContainerUsage> containers = {};  // those that run
};

struct NodeUsage {
  WallTime at = {};
  CgroupUsage used = {};  // by its pods; CPU time of ended ones included
  std::uint64_t nano_cores = 0;
  std::vector<PodUsage> pods = {};
};

// Reads cgroups, or /proc where there are none. Rates are over the time since the sample before the
// last, so somebody has to call sample() about every kWindow. Belongs to the node's loop.
class UsageSampler {
 public:
  static constexpr Nanos kWindow = std::chrono::seconds(10);

  UsageSampler(Clock& clock, const KubeletPods& pods, const NodeCgroups& cgroups)
      : clock_(clock), pods_(pods), cgroups_(cgroups) {}

  // Reads everything now; begins a new window when the last is old enough.
  const NodeUsage& sample();

  // As of the last sample.
  const NodeUsage& last() const { return last_; }

 private:
  struct Point {
    SteadyTime at;
    std::uint64_t cpu_ns;
  };

  struct History {
    Point window_start, newest;
    std::uint64_t seen = 0;  // the sample that touched it
  };

  PodUsage read_pod(const json::value& pod);
  ContainerUsage read_container(const json::value& pod, const json::value& status);
  std::uint64_t rate(const std::string& key, std::uint64_t cpu_ns, std::optional<WallTime> started);

  Clock& clock_;
  const KubeletPods& pods_;
  const NodeCgroups& cgroups_;
  NodeUsage last_;
  std::map<std::string, History> histories_;
  std::uint64_t samples_ = 0;
};

}  // namespace plim::local
