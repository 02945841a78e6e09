// Where the processes of a node's pods are held: directories and values as a kubelet writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local {

enum class CgroupDriver { cgroupfs, systemd };

struct CgroupUsage {
  std::uint64_t cpu_ns = 0;
  std::uint64_t memory_bytes = 0;       // all of it
  std::uint64_t working_set_bytes = 0;  // without inactive file pages
  std::uint64_t rss_bytes = 0;
  std::uint64_t throttled_periods = 0, periods = 0, throttled_ns = 0;
  std::uint64_t oom_kills = 0;
};

// One node's tree. Where cgroups cannot be written every call succeeds and does nothing, and
// available() says so: pods run without limits then.
class NodeCgroups {
 public:
  virtual ~NodeCgroups() = default;
  virtual bool available() const = 0;
  virtual std::string why_not() const = 0;  // when not available: what is missing, for people
  virtual CgroupDriver driver() const = 0;
  virtual std::string root() const = 0;  // "/plimsoll-default/n1", below each hierarchy's mount

  // From the pod's spec, its uid and its QoS class.
  virtual Result<void> make_pod(const json::value& pod) = 0;
  virtual Result<void> make_container(const json::value& pod, std::string container,
                                      std::string container_id) = 0;
  // Files named cgroup.procs that a process writes "0" into to enter the container's cgroups; a
  // starting process does it itself, so that nothing of it ever runs outside.
  virtual std::vector<std::string> procs_files(const json::value& pod,
                                               std::string container_id) const = 0;
  virtual std::optional<CgroupUsage> usage(const json::value& pod,
                                           std::string container_id) const = 0;  // "": the pod's
  virtual std::vector<int> processes(const json::value& pod, std::string container_id) const = 0;
  // Kills whatever is left inside; the directories go when they are empty.
  virtual void kill(const json::value& pod, std::string container_id) = 0;
  virtual Result<void> remove_pod(const json::value& pod) = 0;
};

}  // namespace plim::local
