// Where the processes of a node's pods are held: directories and values as a kubelet writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "node/cgroup_names.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::local::kubelet {

using node::CgroupDriver;
using node::CgroupUsage;

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
  // Kills whatever is left inside; a container's directories go as soon as they are empty, so its
  // usage has to be read before.
  virtual void kill(const json::value& pod, std::string container_id) = 0;
  // Code::conflict while processes are left in it: kill, let them end, call again.
  virtual Result<void> remove_pod(const json::value& pod) = 0;
  // The end of the node: whatever is left in its tree is killed. Code::conflict as above.
  virtual Result<void> remove_node() = 0;
};

struct CgroupOptions {
  std::string cluster = "default";
  std::string node;
  CgroupDriver driver = CgroupDriver::cgroupfs;
  std::string host_root = "/";
  std::string cpus = {};          // "0-3"; "": those of the machine
  std::int64_t milli_cpu = 0;     // what pods may have together; 0: no value is written
  std::int64_t memory_bytes = 0;  // likewise
  std::int64_t pids_per_pod = 0;  // 0: no limit
};

// Below our own cgroup, <own>/plimsoll-<cluster>/<node>. Never null: where cgroups cannot be
// written it is one that is not available.
std::unique_ptr<NodeCgroups> open_node_cgroups(const CgroupOptions& options);

}  // namespace plim::local::kubelet
