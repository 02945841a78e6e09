// The cpusets of pods on this machine. Does only short reads and writes of kernel files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/result.hpp"

namespace plim::pools {

// A directory below that of a pod: a container, a sandbox, or another directory of the runtime.
struct ContainerCgroup {
  std::string path;  // the directory
  std::string uid;   // of the pod, from the name of its directory
  std::string id;    // of the container
};

struct CpusetTreeOptions {
  std::string host_root = "/";
  std::string cgroup_root = {};  // of the kubelet; "": found by the own cgroup, or the default ones
  std::string own_cgroup = "/proc/self/cgroup";
  std::string pods = {};  // the directory with the pods; "": search for it
};

// Supports both versions of cgroups and both cgroup drivers of the kubelet.
class CpusetTree {
 public:
  // Code::not_found: the machine has no cpusets.
  static Result<CpusetTree> open(const CpusetTreeOptions& options);

  bool v2() const { return v2_; }

  std::vector<ContainerCgroup> scan() const;
  // The directories in which pods and containers are created. While one does not exist, its
  // nearest parent that does.
  std::vector<std::string> watched() const;

  struct Set {
    CpuSet cpus;             // as written, unless the kernel reports others
    bool inherited = false;  // cgroup v2, and nothing was written yet
  };

  // nullopt: the cgroup was removed.
  std::optional<Set> read(const std::string& path) const;
  // Writes the set of the container and of all cgroups below it. On v1 extends the parents first.
  Result<void> write(const std::string& path, const CpuSet& cpus) const;
  // The CPUs that pods may use; empty: all CPUs.
  CpuSet usable() const;
  std::vector<int> processes(const std::string& path) const;

 private:
  CpusetTree() = default;
  Result<void> write_here(const std::string& path, const CpuSet& cpus) const;
  Result<void> grow_above(const std::string& path, const CpuSet& cpus) const;
  std::vector<std::string> pod_directories() const;

  std::vector<std::string> roots_;  // candidates for the directory that holds the pods
  bool v2_ = false;
};

}  // namespace plim::pools
