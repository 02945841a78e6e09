// Hardware counters and cache control.
#include <fmt/format.h>

#include "cli/doctor/probes.hpp"

namespace plim::cli::doctor {

Finding probe_perf(const Host& host) {
  std::string paranoid = host.read("/proc/sys/kernel/perf_event_paranoid").value_or("");
  std::string setting =
      paranoid.empty() ? "no perf_event_paranoid" : fmt::format("perf_event_paranoid={}", paranoid);
  auto hardware = host.calls().try_cycle_counter();
  if (hardware) return {.found = fmt::format("{}, hardware counters work", setting)};

  auto software = host.calls().try_software_counter();
  Finding out{.status = Status::degraded,
              .found = fmt::format("{}; {}", setting,
                                   software ? "no hardware counters" : software.error().message),
              .effect =
                  "no cycles, instructions and cache misses per container; Plimsoll judges "
                  "contention by pressure and run times"};
  if (!software)
    out.remedy =
        "set sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON; in a container the seccomp "
        "profile must allow perf_event_open";
  else
    out.remedy = "use bare metal, or a virtual machine with a virtual PMU";
  return out;
}

Finding probe_resctrl(const Host& host) {
  if (host.exists("/sys/fs/resctrl/schemata")) {
    std::string schemata = host.read("/sys/fs/resctrl/schemata").value_or("");
    bool monitors = host.exists("/sys/fs/resctrl/mon_data");
    std::string kinds;
    for (std::string_view kind : {"L3", "L2", "MB"})
      if (schemata.find(fmt::format("{}:", kind)) != schemata.npos)
        kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", kind);
    return {.found = fmt::format("mounted: {}{}", kinds.empty() ? "no allocation" : kinds,
                                 monitors ? ", with monitoring" : "")};
  }
  std::string cpu = host.read("/proc/cpuinfo").value_or("");
  bool capable = cpu.find(" rdt_a") != cpu.npos || cpu.find(" cqm_llc") != cpu.npos;
  if (!capable)
    return {.status = Status::absent,
            .found = "this CPU has no RDT",
            .effect = "Plimsoll cannot measure or limit cache and memory bandwidth"};
  return {.status = Status::degraded,
          .found = "the CPU has RDT, resctrl is not mounted",
          .effect = "Plimsoll cannot measure or limit cache and memory bandwidth",
          .remedy = "mount -t resctrl resctrl /sys/fs/resctrl"};
}

}  // namespace plim::cli::doctor
