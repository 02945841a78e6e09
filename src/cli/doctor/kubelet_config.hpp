// What this node's kubelet was told and what it wrote down; fields are empty when unknown.
#pragma once

#include <string>

#include "cli/doctor/host.hpp"

namespace plim::cli::doctor {

struct KubeletConfig {
  std::string file;  // the configuration file found, host path
  std::string cgroup_driver;
  std::string cpu_manager_policy;  // what the kubelet runs with, else what its file asks for
  std::string mistake;             // why the file could not be understood
};

KubeletConfig read_kubelet_config(const Host& host);

}  // namespace plim::cli::doctor
