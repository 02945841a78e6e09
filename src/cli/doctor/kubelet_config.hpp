// The configuration and the state of this node's kubelet. Unknown fields are empty.
#pragma once

#include <string>

#include "cli/doctor/host.hpp"

namespace plim::cli::doctor {

struct KubeletConfig {
  std::string file;  // path of the configuration file on the host
  std::string cgroup_driver;
  std::string cpu_manager_policy;  // of the running kubelet; else of its configuration file
  std::string mistake;             // why the file could not be parsed
};

KubeletConfig read_kubelet_config(const Host& host);

}  // namespace plim::cli::doctor
