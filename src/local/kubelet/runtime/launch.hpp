// Builds the shim's start request from a container's spec, its image and its environment.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/devices.hpp"
#include "local/kubelet/runtime/env.hpp"
#include "local/kubelet/runtime/volumes.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

struct Launch {
  json::value pod, container;
  std::string id;
  int restart = 0;
  std::shared_ptr<const images::Image> image;
  Environment environment;
  DeviceGrants grants = {};
  VolumeRoots roots;
  std::string log, termination_log;
  std::vector<std::string> cgroup;
  bool isolated = false;  // namespaces and mounts are available
  std::string program;    // our own binary, the entry point of the built-in images
};

// The command line, with $(NAME) replaced. If neither the image nor the pod names a program, the
// container just waits. So pods with unknown images still start.
std::vector<std::string> container_command(const Launch& launch);

// Code::invalid: the spec cannot be satisfied; a kubelet reports CreateContainerConfigError.
Result<StartSpec> make_start_spec(const Launch& launch);

// The directory of the programs that a node adds to those of the machine: crictl.
std::string own_programs(const VolumeRoots& roots);

// The variables of every container of the pod; its own settings come later.
Environment base_environment(const json::value& pod, const images::Image& image,
                             const PodPlace& place, const VolumeRoots& roots);

}  // namespace plim::local::kubelet
