// From a container's spec, its image and its environment to what the shim has to start.
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
  bool isolated = false;  // namespaces and mounts can be made
  std::string program;    // our own binary: the entry point of the images that come with it
};

// The words to run, $(NAME) replaced. An image that names no program and gets no command just
// waits, so that pods with images from elsewhere still come up.
std::vector<std::string> container_command(const Launch& launch);

// Code::invalid: the spec cannot be satisfied, a kubelet's CreateContainerConfigError.
Result<StartSpec> make_start_spec(const Launch& launch);

// What holds for every container of the pod before its own settings.
Environment base_environment(const json::value& pod, const images::Image& image,
                             const PodPlace& place, const VolumeRoots& roots);

}  // namespace plim::local::kubelet
