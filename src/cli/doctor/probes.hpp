// The table of probes. Each probe checks one property of the host and returns a finding.
#pragma once

#include <span>
#include <string_view>

#include "cli/doctor/finding.hpp"
#include "cli/doctor/host.hpp"

namespace plim::cli::doctor {

struct Probe {
  std::string_view check;
  Finding (*run)(const Host& host);  // the table fills in the name
};

std::span<const Probe> probes();

Finding probe_kernel(const Host& host);
Finding probe_cpus(const Host& host);
Finding probe_cgroups(const Host& host);
Finding probe_cgroup_delegation(const Host& host);
Finding probe_cgroup_driver(const Host& host);
Finding probe_perf(const Host& host);
Finding probe_pressure(const Host& host);
Finding probe_resctrl(const Host& host);
Finding probe_permissions(const Host& host);
Finding probe_open_files(const Host& host);
Finding probe_clock(const Host& host);
Finding probe_kubelet(const Host& host);
Finding probe_runtime(const Host& host);

}  // namespace plim::cli::doctor
