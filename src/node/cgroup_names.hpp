// The names of a kubelet's pod cgroups, and the numbers that it writes to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::node {

enum class CgroupDriver { cgroupfs, systemd };
enum class Qos { guaranteed, burstable, best_effort };

std::string_view driver_name(CgroupDriver driver);  // "cgroupfs"
std::string_view qos_name(Qos qos);                 // "BestEffort"
std::optional<Qos> parse_qos(std::string_view name);

// Paths relative to the kubelet's root: "kubepods/burstable/pod<uid>",
// "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice".
std::string qos_cgroup(CgroupDriver driver, Qos qos);  // for guaranteed pods, the one of all pods
std::string pod_cgroup(CgroupDriver driver, Qos qos, std::string_view uid);
// Only the last part. `prefix` names the runtime: cri-containerd, crio, docker.
std::string container_cgroup(CgroupDriver driver, std::string_view id,
                             std::string_view prefix = "cri-containerd");

// All places where a kubelet with this driver and --cgroup-root may put a pod, the likeliest first.
// With systemd a root "/a" becomes "/a.slice/a-kubepods.slice/…".
std::vector<std::string> pod_cgroup_paths(CgroupDriver driver, const std::string& root, Qos qos,
                                          std::string_view uid);
// All names that a container's cgroup may have below its pod's. `runtime` is the scheme of the
// container's ID: "containerd", "cri-o", "docker".
std::vector<std::string> container_cgroup_names(CgroupDriver driver, std::string_view runtime,
                                                std::string_view id);

// The other way round, from the name of a directory. "kubepods-burstable-podab_c.slice" and
// "podab-c" give "ab-c"; "" for directories that are not a pod's.
std::string pod_uid_of(std::string_view directory);
// "cri-containerd-abc.scope" and "abc" give "abc".
std::string container_id_of(std::string_view directory);
// Directories between all pods' and a pod's: "burstable", "kubepods-besteffort.slice".
bool is_qos_cgroup(std::string_view directory);
// Whether /proc/<pid>/cgroup with this text is of a process in a pod.
bool is_in_pod(std::string_view proc_cgroup);

// Whether the name can be one part of a path: not empty, without '/', neither "." nor "..".
bool is_path_part(std::string_view name);

inline constexpr std::int64_t kCpuPeriodUs = 100'000;
inline constexpr std::int64_t kMinShares = 2;
inline constexpr std::int64_t kMaxShares = 262'144;

std::int64_t shares_of(std::int64_t milli_cpu);      // 2 … 262144
std::int64_t weight_of_shares(std::int64_t shares);  // 1 … 10000, the scale of version 2
std::int64_t quota_us_of(std::int64_t milli_cpu);    // per period; at least 1 ms

}  // namespace plim::node
