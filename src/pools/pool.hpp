// A pool of CPUs, and all pools of one node.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/text.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

inline constexpr std::string_view kDefaultBaseName = "nokia.k8s.io";

enum class PoolType { exclusive, shared, common };  // common: "default", of containers without pool
enum class SmtPolicy { single, multi, none };

std::string_view type_name(PoolType type);
std::string_view policy_name(SmtPolicy policy);  // "singleThreaded"

struct Pool {
  std::string name;
  PoolType type = PoolType::common;
  CpuSet cpus = {};  // as listed
  SmtPolicy smt = SmtPolicy::single;
  int shared_unit = 1;    // thousandths of a CPU per device
  bool spread = false;    // allocate over NUMA nodes instead of packing
  std::string file = {};  // the file that defines it, for messages
  TextPosition at = {};   // of its CPUs in the file
  std::string partition = "member";

  bool advertised() const { return type != PoolType::common; }

  int devices_per_cpu() const { return type == PoolType::shared ? 1000 / shared_unit : 1; }

  // The CPUs that a container gets with the listed CPU.
  CpuSet granted(int cpu, const Topology& topology) const;
  // The CPUs that no other container may use meanwhile: also threads that stay idle.
  CpuSet claimed(int cpu, const Topology& topology) const;
  CpuSet members(const Topology& topology) const;  // granted() of all listed CPUs
};

// The base names of the node's resources: the current one, and earlier ones that pods still use.
struct BaseNames {
  std::string current = std::string(kDefaultBaseName);
  std::set<std::string, std::less<>> former = {};

  // The name of the pool if the resource has the current base name. The whole resource if it has a
  // former one: that pool is no longer configured, but its CPUs may still be held. Else "".
  std::string pool_of(std::string_view resource) const;
  // The reverse.
  std::string resource_of(std::string_view pool) const;
};

// Without the base name that pools of a former base name carry.
inline std::string_view bare_name(std::string_view pool) {
  return pool.substr(pool.rfind('/') + 1);
}

struct NodePools {
  std::string base_name = std::string(kDefaultBaseName);
  std::string file = {};         // "": no file applies to this node, and pools do nothing
  std::vector<Pool> pools = {};  // by name
  CpuSet default_cpus = {};      // of containers without pool; empty: their sets are not changed
  bool default_is_explicit = false;

  bool idle() const { return file.empty(); }

  const Pool* find(std::string_view name) const;

  std::string resource(const Pool& pool) const { return base_name + "/" + pool.name; }
};

}  // namespace plim::pools
