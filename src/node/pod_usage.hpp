// The usage of a node's pods: counters since their start and rates. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::node {

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
  std::vector<ContainerUsage> containers = {};  // running ones
};

struct NodeUsage {
  WallTime at = {};
  CgroupUsage used = {};  // by its pods, including CPU time of ended ones
  std::uint64_t nano_cores = 0;
  std::vector<PodUsage> pods = {};
};

}  // namespace plim::node
