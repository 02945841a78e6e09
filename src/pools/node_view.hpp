// Merges facts about the containers of a node from the API, the kubelet and the cgroups.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/types.hpp"
#include "pools/cpuset_plan.hpp"
#include "pools/cpuset_tree.hpp"
#include "pools/kubelet_records.hpp"

namespace plim::pools {

struct ContainerFacts {
  std::string name;
  std::string id = {};                  // "" until the status has one
  std::vector<std::string> pools = {};  // requested pools
  std::string resources = {};           // its CPU and memory in the pod's spec
  bool resizing = false;                // the kubelet has not applied them yet
};

struct PodFacts {
  std::string key;         // "namespace/name"
  std::string uid;         // in the API
  std::string cgroup_uid;  // in its cgroup and the kubelet's records; differs for static pods
  bool ended = false;
  bool ending = false;  // it is being deleted
  std::vector<ContainerFacts> containers = {};

  bool uses_pools() const;
};

// NAME=value pairs, each followed by a zero byte.
using ReadEnvironment = std::function<std::string(const std::string& cgroup)>;
using ReadCpus = std::function<std::optional<CpuSet>(const std::string& cgroup)>;

// Considers only resources with those base names.
PodFacts facts_of(const kube::Pod& pod, const BaseNames& bases);

// Holdings of pods that run or have a cgroup: from the kubelet's answer, else from its file.
std::vector<Holding> holdings_of(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                                 const std::vector<ContainerCgroup>& cgroups,
                                 const BaseNames& bases);

// Base names that are not in `bases`, but whose resources this program allocated to a running
// container: the environment of the container has our variable. The configuration may have changed
// while no agent was running.
std::vector<std::string> forgotten_bases(const KubeletAnswer& answer,
                                         const std::vector<PodFacts>& pods,
                                         const std::vector<ContainerCgroup>& cgroups,
                                         const BaseNames& bases,
                                         const ReadEnvironment& read_environment);

// If the API does not report the ID of a container yet, its environment identifies it. Leaves out
// containers that have ended meanwhile.
std::vector<LiveContainer> live_containers(const std::vector<ContainerCgroup>& cgroups,
                                           const std::vector<PodFacts>& pods,
                                           const std::vector<Holding>& holdings,
                                           const ReadCpus& read_cpus,
                                           const ReadEnvironment& read_environment);

}  // namespace plim::pools
