// Finds the cgroups of pods and their containers, for any configuration of the kubelet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/pods.hpp"
#include "agent/task.hpp"
#include "node/cgroup_meter.hpp"
#include "node/cgroup_names.hpp"

namespace plim::agent {

struct PodCgroup {
  std::string path;  // of the pod
  std::vector<ContainerGroup> containers = {};
};

// Caches what it found, so that it searches only once for each pod. Belongs to one loop.
class PodCgroups {
 public:
  // Without a root it tries the default ones: "/" and "/kubelet".
  PodCgroups(const node::CgroupMounts& mounts, std::optional<node::CgroupDriver> driver,
             std::optional<std::string> root);

  // None: neither the pod nor one of its containers has a cgroup.
  std::optional<PodCgroup> find(const PodFacts& pod);
  // Forgets pods for which find() was not called since the last call.
  void sweep();
  // Directories that change when pods are created or removed.
  std::vector<std::string> watched() const;

 private:
  struct Known {
    std::string path;
    node::CgroupDriver driver = node::CgroupDriver::cgroupfs;
    bool used = true;
  };

  std::optional<Known> locate(const PodFacts& pod) const;
  std::string container_path(const Known& pod, const PodContainer& container) const;

  const node::CgroupMounts& mounts_;
  std::optional<node::CgroupDriver> driver_;
  std::vector<std::string> roots_;
  std::map<std::string, Known> known_;  // by uid
};

}  // namespace plim::agent
