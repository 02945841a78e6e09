// Control groups: version, controllers, write permission, driver.
#include <array>

#include <fmt/format.h>

#include "cli/doctor/kubelet_config.hpp"
#include "cli/doctor/probes.hpp"
#include "node/cgroup_names.hpp"

namespace plim::cli::doctor {
namespace {

constexpr std::string_view kMount = "/sys/fs/cgroup";

bool is_v2(const Host& host) {
  return host.exists("/sys/fs/cgroup/cgroup.controllers");
}

bool has_word(std::string_view words, std::string_view word) {
  std::string padded = fmt::format(" {} ", words);
  return padded.find(fmt::format(" {} ", word)) != std::string::npos;
}

// The path in "0::/user.slice/x" of /proc/self/cgroup; "" if there is no such line.
std::string own_group(const Host& host) {
  std::string text = host.read("/proc/self/cgroup").value_or("");
  std::size_t at = text.starts_with("0::") ? 0 : text.find("\n0::");
  if (at == text.npos) return "";
  at = text.find("0::", at) + 3;
  return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

Finding probe_cgroups(const Host& host) {
  constexpr std::array<std::string_view, 5> kWanted{"cpu", "cpuset", "memory", "io", "pids"};
  constexpr std::string_view kHybridMount = "/sys/fs/cgroup/unified/cgroup.controllers";
  std::string version, missing;
  if (is_v2(host)) {
    std::string controllers = host.read("/sys/fs/cgroup/cgroup.controllers").value_or("");
    version = fmt::format("v2 with {}", controllers.empty() ? "no controllers" : controllers);
    for (std::string_view name : kWanted)
      if (!has_word(controllers, name)) missing += fmt::format(" {}", name);
  } else if (host.exists("/sys/fs/cgroup/cpu") || host.exists("/sys/fs/cgroup/memory")) {
    version = host.exists(kHybridMount) ? "v1 and v2 (hybrid)" : "v1";
    for (std::string_view name : kWanted) {
      std::string folder = fmt::format("{}/{}", kMount, name == "io" ? "blkio" : name);
      if (!host.exists(folder)) missing += fmt::format(" {}", name);
    }
  } else {
    return {.status = Status::failed,
            .found = "no cgroups below /sys/fs/cgroup",
            .effect = "Plimsoll cannot measure, limit or pin containers",
            .remedy = "mount them: mount -t cgroup2 none /sys/fs/cgroup"};
  }
  if (missing.empty()) return {.found = std::move(version)};
  return {.status = Status::degraded,
          .found = fmt::format("{}; missing:{}", version, missing),
          .effect = "features that need the missing controllers are off",
          .remedy =
              "enable them on the kernel's command line (cgroup_no_v1=all, "
              "cgroup_enable=memory)"};
}

Finding probe_cgroup_delegation(const Host& host) {
  if (!is_v2(host)) {
    if (host.is_writable("/sys/fs/cgroup/cpu")) return {.found = "cgroups can be created (v1)"};
  } else {
    if (host.is_writable("/sys/fs/cgroup/cgroup.subtree_control"))
      return {.found = "the whole tree is writable"};
    std::string own = own_group(host);
    if (!own.empty() && host.is_writable(fmt::format("{}{}/cgroup.procs", kMount, own))) {
      std::string controllers =
          host.read(fmt::format("{}{}/cgroup.controllers", kMount, own)).value_or("");
      return {.status = Status::degraded,
              .found = fmt::format("{} is delegated with {}", own,
                                   controllers.empty() ? "no controllers" : controllers),
              .effect = "cgroups work for your own processes only",
              .remedy =
                  "run as root for all processes; systemd-run --user -p Delegate=yes gives more "
                  "controllers"};
    }
  }
  return {.status = Status::degraded,
          .found = "no cgroup is writable",
          .effect = "measuring works; limits and pinning with cgroups do not",
          .remedy =
              "run as root, or with systemd-run --user -p Delegate=yes; in a pod, mount "
              "/sys/fs/cgroup writable"};
}

Finding probe_cgroup_driver(const Host& host) {
  std::string configured = read_kubelet_config(host).cgroup_driver;
  const auto has_pods = [&](node::CgroupDriver driver, std::string_view hierarchy) {
    const std::string pods = node::qos_cgroup(driver, node::Qos::guaranteed);
    return host.exists("/sys/fs/cgroup/" + pods) ||
           host.exists(fmt::format("/sys/fs/cgroup/{}/{}", hierarchy, pods));
  };
  bool systemd = has_pods(node::CgroupDriver::systemd, "systemd");
  bool plain = has_pods(node::CgroupDriver::cgroupfs, "cpu");
  std::string seen = systemd ? "systemd" : plain ? "cgroupfs" : "";
  if (configured.empty() && seen.empty())
    return {.status = Status::absent,
            .found = "no cgroups of pods",
            .effect = "only roles on a Kubernetes node need them"};
  if (!configured.empty() && !seen.empty() && configured != seen)
    return {.status = Status::degraded,
            .found = fmt::format("the kubelet uses {}, the tree looks like {}", configured, seen),
            .effect = "Plimsoll may mistake cgroups of old pods for current ones",
            .remedy = "restart the kubelet, or remove the old kubepods cgroups"};
  return {.found = seen.empty() ? configured : seen};
}

}  // namespace plim::cli::doctor
