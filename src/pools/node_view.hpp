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

// Considers only resources with that base name.
PodFacts facts_of(const kube::Pod& pod, std::string_view base_name);

// Holdings of pods that run or have a cgroup: from the kubelet's answer, else from its file.
std::vector<Holding> holdings_of(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                                 const std::vector<ContainerCgroup>& cgroups,
                                 std::string_view base_name);

// NAME=value pairs, each followed by a zero byte.
using ReadEnvironment = std::function<std::string(const std::string& cgroup)>;
using ReadCpus = std::function<std::optional<CpuSet>(const std::string& cgroup)>;

// If the API does not report the ID of a container yet, its environment identifies it. Leaves out
// containers that have ended meanwhile.
std::vector<LiveContainer> live_containers(const std::vector<ContainerCgroup>& cgroups,
                                           const std::vector<PodFacts>& pods,
                                           const std::vector<Holding>& holdings,
                                           const ReadCpus& read_cpus,
                                           const ReadEnvironment& read_environment);

}  // namespace plim::pools
