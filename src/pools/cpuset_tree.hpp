// The cgroups of pods on this machine, as far as their CPUs go. Short reads of kernel files only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/result.hpp"

namespace plim::pools {

// A directory below a pod's: a container, its sandbox, or something a runtime keeps there.
struct ContainerCgroup {
  std::string path;  // the directory
  std::string uid;   // of the pod, as its directory has it
  std::string id;    // of the container
};

struct CpusetTreeOptions {
  std::string host_root = "/";
  std::string cgroup_root = {};  // of the kubelet; "": the usual ones
  std::string pods = {};         // the directory that holds the pods; "": found
};

// Both versions of cgroups, both drivers of the kubelet.
class CpusetTree {
 public:
  // Code::not_found: the machine has no cpusets.
  static Result<CpusetTree> open(const CpusetTreeOptions& options);

  bool v2() const { return v2_; }

  std::vector<ContainerCgroup> scan() const;
  // Where new pods and containers show up, and the nearest directories above while they are
  // missing.
  std::vector<std::string> watched() const;

  struct Set {
    CpuSet cpus;             // as written, unless the kernel gives others
    bool inherited = false;  // version 2, nothing was written yet
  };

  // nullopt: it is gone.
  std::optional<Set> read(const std::string& path) const;
  // The container's, and that of everything below; on version 1 what is above grows first.
  Result<void> write(const std::string& path, const CpuSet& cpus) const;
  // What pods may use at all; empty: all CPUs.
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
