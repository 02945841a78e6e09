// The cgroups of a node's pods: the directories and values that a kubelet writes.
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

// The cgroup tree of one node. If cgroups cannot be written, every call succeeds and does
// nothing, and available() is false: pods then run without limits.
class NodeCgroups {
 public:
  virtual ~NodeCgroups() = default;
  virtual bool available() const = 0;
  virtual std::string why_not() const = 0;  // if not available: what is missing, as text for users
  virtual CgroupDriver driver() const = 0;
  virtual std::string root() const = 0;  // "/plimsoll-default/n1", below each hierarchy's mount

  // From the pod's spec, its uid and its QoS class. Called again for other resources, both write
  // the new limits and leave cpusets as they are.
  virtual Result<void> make_pod(const json::value& pod) = 0;
  virtual Result<void> make_container(const json::value& pod, std::string container,
                                      std::string container_id) = 0;
  // The cgroup.procs files of the container. A starting process writes "0" into each of them to
  // enter the cgroups itself, so that it never runs outside them.
  virtual std::vector<std::string> procs_files(const json::value& pod,
                                               std::string container_id) const = 0;
  virtual std::optional<CgroupUsage> usage(const json::value& pod,
                                           std::string container_id) const = 0;  // "": the pod
  virtual std::vector<int> processes(const json::value& pod, std::string container_id) const = 0;
  // Kills the processes that are left. The container's directories are removed as soon as they are
  // empty, so read its usage before.
  virtual void kill(const json::value& pod, std::string container_id) = 0;
  // Code::conflict while processes are left in it: call kill(), wait for their end, call again.
  virtual Result<void> remove_pod(const json::value& pod) = 0;
  // Kills all processes in the node's tree, at the end of the node. Code::conflict as above.
  virtual Result<void> remove_node() = 0;
};

struct CgroupOptions {
  std::string cluster = "default";
  std::string node;
  CgroupDriver driver = CgroupDriver::cgroupfs;
  std::string host_root = "/";
  std::string cpus = {};          // "0-3"; "": all CPUs of the machine
  std::int64_t milli_cpu = 0;     // limit for all pods together; 0: no value is written
  std::int64_t memory_bytes = 0;  // likewise
  std::int64_t pids_per_pod = 0;  // 0: no limit
};

// The tree is <own>/plimsoll-<cluster>/<node> below our own cgroup. Never null: if cgroups cannot
// be written, the result is not available().
std::unique_ptr<NodeCgroups> open_node_cgroups(const CgroupOptions& options);

}  // namespace plim::local::kubelet
