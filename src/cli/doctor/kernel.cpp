// Kernel, CPUs, pressure, limits, permissions, clock.
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/cpu_list.hpp"
#include "cli/doctor/probes.hpp"

namespace plim::cli::doctor {
namespace {

// "6.1.0-26-amd64" is {6, 1}; anything else {0, 0}.
std::pair<int, int> major_minor(std::string_view release) {
  int major = 0, minor = 0;
  const char* end = release.data() + release.size();
  auto [dot, error] = std::from_chars(release.data(), end, major);
  if (error != std::errc{} || dot == end || *dot != '.') return {0, 0};
  std::from_chars(dot + 1, end, minor);
  return {major, minor};
}

// Counts the numbers in a kernel list of CPUs or NUMA nodes, such as "0-3,8".
int count_list(std::string_view list) {
  return parse_cpu_list(list).value_or(CpuSet()).count();
}

struct Capability {
  unsigned bit;
  std::string_view name;
  std::string_view use;
};

// Capabilities from linux/capability.h that our roles use.
constexpr std::array kCapabilities{
    Capability{21, "CAP_SYS_ADMIN", "cgroups of other users, resctrl, perf of older kernels"},
    Capability{19, "CAP_SYS_PTRACE", "reading other users' processes"},
    Capability{23, "CAP_SYS_NICE", "pinning other users' processes"},
    Capability{38, "CAP_PERFMON", "hardware counters of other users' processes"},
};

}  // namespace

Finding probe_kernel(const Host& host) {
  auto release = host.read("/proc/sys/kernel/osrelease");
  if (!release) {
    return {.status = Status::failed,
            .found = release.error().message,
            .effect = "Plimsoll cannot inspect this machine",
            .remedy = "mount /proc, or set --host-root to the host's root"};
  }
  Finding out{.found = "Linux " + *release};
  if (major_minor(*release) < std::pair(4, 20)) {
    out.status = Status::degraded;
    out.effect = "no pressure metrics and no cpusets on cgroup v2";
    out.remedy = "use Linux 5.4 or newer";
  }
  return out;
}

Finding probe_cpus(const Host& host) {
  auto online = host.read("/sys/devices/system/cpu/online");
  if (!online)
    return {.status = Status::degraded,
            .found = online.error().message,
            .effect = "no CPU map, so no pinning",
            .remedy = "mount /sys"};
  int nodes = count_list(host.read("/sys/devices/system/node/online").value_or("0"));
  auto smt = host.read("/sys/devices/system/cpu/smt/active");
  std::string out = fmt::format("{} online ({}), {} NUMA node{}", count_list(*online), *online,
                                nodes, nodes == 1 ? "" : "s");
  if (smt) out += *smt == "1" ? ", SMT on" : ", SMT off";
  return {.found = std::move(out)};
}

Finding probe_pressure(const Host& host) {
  // The files exist but cannot be read when the kernel was started with psi=0.
  auto cpu = host.read("/proc/pressure/cpu");
  if (cpu) return {.found = "/proc/pressure is readable"};
  return {.status = Status::degraded,
          .found = cpu.error().message,
          .effect = "Plimsoll judges contention without pressure stall times",
          .remedy = "boot with psi=1 on a kernel with CONFIG_PSI"};
}

Finding probe_permissions(const Host& host) {
  unsigned user = host.calls().effective_user();
  std::uint64_t effective = 0;
  if (auto status = host.read("/proc/self/status")) {
    constexpr std::string_view kLabel = "CapEff:";
    std::size_t at = status->find(kLabel);
    if (at != status->npos) {
      at = status->find_first_not_of(" \t", at + kLabel.size());
      if (at != status->npos)
        std::from_chars(status->data() + at, status->data() + status->size(), effective, 16);
    }
  }
  std::string missing, uses;
  for (const Capability& capability : kCapabilities) {
    if ((effective >> capability.bit & 1) != 0) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", capability.name);
    uses += fmt::format("{}{}", uses.empty() ? "" : "; ", capability.use);
  }
  std::string who = user == 0 ? "root" : fmt::format("user {}", user);
  if (missing.empty()) return {.found = who + ", all capabilities needed"};
  return {.status = Status::degraded,
          .found = fmt::format("{}, without {}", who, missing),
          .effect = "commands work; not available to the agent: " + uses,
          .remedy = "run the agent as root, or grant these capabilities"};
}

Finding probe_open_files(const Host& host) {
  constexpr std::uint64_t kEnough = 16'384;
  std::uint64_t limit = host.calls().open_files_limit();
  if (limit >= kEnough) return {.found = fmt::format("limit {}", limit)};
  return {
      .status = Status::degraded,
      .found = fmt::format("limit {}", limit),
      .effect = "servers with many watches and agents on full nodes run out of file descriptors",
      .remedy = "raise it: ulimit -Hn 65536, or LimitNOFILE=65536 in the unit"};
}

Finding probe_clock(const Host& host) {
  auto synchronized = host.calls().clock_is_synchronized();
  if (synchronized && *synchronized) return {.found = "synchronized"};
  return {.status = Status::degraded,
          .found = synchronized ? "not synchronized" : synchronized.error().message,
          .effect = "times of runs and leases of several nodes may not be consistent",
          .remedy = "run chrony or systemd-timesyncd (a virtual machine may follow its host)"};
}

}  // namespace plim::cli::doctor
