#include "cli/doctor/probes.hpp"

#include <array>

namespace plim::cli::doctor {
namespace {

constexpr std::array kProbes{
    Probe{"kernel", probe_kernel},
    Probe{"cpus", probe_cpus},
    Probe{"cgroups", probe_cgroups},
    Probe{"cgroup delegation", probe_cgroup_delegation},
    Probe{"cgroup driver", probe_cgroup_driver},
    Probe{"perf", probe_perf},
    Probe{"pressure", probe_pressure},
    Probe{"resctrl", probe_resctrl},
    Probe{"permissions", probe_permissions},
    Probe{"open files", probe_open_files},
    Probe{"clock", probe_clock},
    Probe{"kubelet", probe_kubelet},
    Probe{"runtime", probe_runtime},
};

}  // namespace

std::span<const Probe> probes() {
  return kProbes;
}

}  // namespace plim::cli::doctor
