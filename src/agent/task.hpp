// What a task is: one pod, or one cgroup where there is no orchestrator.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/metric_table.hpp"

namespace plim::agent {

struct ContainerGroup {
  std::string id;    // of the container, without the runtime's name
  std::string name;  // as the pod's spec calls it
  std::string path;  // of its cgroup

  bool operator==(const ContainerGroup&) const = default;
};

// A plain value, made by whoever finds tasks and handed over between threads.
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
