// The scheduler as a daemon.
#pragma once

#include <string>

#include "roles/errors.hpp"
#include "sched/config.hpp"
#include "sched/service.hpp"

namespace plim::roles {

struct SchedulerSettings {
  std::string config_path = {};  // a KubeSchedulerConfiguration, reread when it changes; "": none
  sched::ReadConfigOptions read = {};
  sched::ServiceOptions service = {};
};

Result<sched::ConfigRead> read_scheduler_config(const std::string& path,
                                                const sched::ReadConfigOptions& options);

// Runs until SIGTERM or SIGINT, or until the scheduler loses its lease.
Outcome<int> run_scheduler(SchedulerSettings settings);

}  // namespace plim::roles
