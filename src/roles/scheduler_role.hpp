// The scheduler as a daemon.
#pragma once

#include <string>

#include "roles/errors.hpp"
#include "sched/config.hpp"
#include "sched/service.hpp"

namespace plim::roles {

struct SchedulerSettings {
  std::string config_path = {};  // a KubeSchedulerConfiguration, which is reread; "": none
  sched::ReadConfigOptions read = {};
  sched::ServiceOptions service = {};
};

Result<sched::ConfigRead> read_scheduler_config(const std::string& path,
                                                const sched::ReadConfigOptions& options);

// Until SIGTERM or SIGINT, or until the lease is lost.
Outcome<int> run_scheduler(SchedulerSettings settings);

}  // namespace plim::roles
