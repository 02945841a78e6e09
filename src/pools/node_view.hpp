// Puts together what the API, the kubelet and the cgroups tell about the containers of a node.
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
  std::string id = {};                  // "" while it has none
  std::vector<std::string> pools = {};  // it asks for
};

struct PodFacts {
  std::string key;         // "namespace/name"
  std::string uid;         // of the API
  std::string cgroup_uid;  // of its directory and the kubelet's records; differs for static pods
  bool ended = false;
  bool ending = false;  // it is being deleted
  std::vector<ContainerFacts> containers = {};

  bool uses_pools() const;
};

// Resources of that base name only.
PodFacts facts_of(const kube::Pod& pod, std::string_view base_name);

// Holdings of pods that run or have a cgroup; the kubelet's answer first, its file for the rest.
std::vector<Holding> holdings_of(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                                 const std::vector<ContainerCgroup>& cgroups,
                                 std::string_view base_name);

// NAME=value pairs, one after the other with a zero byte behind each.
using ReadEnvironment = std::function<std::string(const std::string& cgroup)>;
using ReadCpus = std::function<std::optional<CpuSet>(const std::string& cgroup)>;

// A container that the API does not know by its id yet is found by its environment. What is gone
// meanwhile is left out.
std::vector<LiveContainer> live_containers(const std::vector<ContainerCgroup>& cgroups,
                                           const std::vector<PodFacts>& pods,
                                           const std::vector<Holding>& holdings,
                                           const ReadCpus& read_cpus,
                                           const ReadEnvironment& read_environment);

}  // namespace plim::pools
