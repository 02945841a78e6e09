// A task: one pod, or one cgroup if there is no orchestrator.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/metric_table.hpp"

namespace plim::agent {

struct ContainerGroup {
  std::string id;    // of the container, without the runtime's name
  std::string name;  // in the pod's spec
  std::string path;  // of its cgroup

  bool operator==(const ContainerGroup&) const = default;
};

// A plain value, created by a TaskSource; may be passed between threads.
struct NodeTask {
  std::string id;    // uid of the pod
  std::string name;  // "namespace/pod"
  std::string cgroup_path;
  std::vector<ContainerGroup> containers = {};  // empty: the task's own cgroup is measured
  bool is_pod = false;
  Labels labels = {};
  std::map<std::string, double> resources = {};

  bool operator==(const NodeTask&) const = default;
};

using TaskList = std::shared_ptr<const std::vector<NodeTask>>;

}  // namespace plim::agent
