// What a pool of CPUs is, and all pools of one node.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/text.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

inline constexpr std::string_view kDefaultBaseName = "nokia.k8s.io";

enum class PoolType { exclusive, shared, common };  // the last one is everybody's: "default"
enum class SmtPolicy { single, multi, none };

std::string_view type_name(PoolType type);
std::string_view policy_name(SmtPolicy policy);  // "singleThreaded"

struct Pool {
  std::string name;
  PoolType type = PoolType::common;
  CpuSet cpus = {};  // as listed
  SmtPolicy smt = SmtPolicy::single;
  int shared_unit = 1;    // thousandths of a CPU that one device stands for
  bool spread = false;    // over NUMA nodes instead of packing
  std::string file = {};  // where it was written, for messages
  TextPosition at = {};   // of its CPUs
  std::string partition = "member";

  bool advertised() const { return type != PoolType::common; }

  int devices_per_cpu() const { return type == PoolType::shared ? 1000 / shared_unit : 1; }

  // What a container gets with the listed CPU.
  CpuSet granted(int cpu, const Topology& topology) const;
  // What nobody else may use while it holds the CPU: threads that stay idle too.
  CpuSet claimed(int cpu, const Topology& topology) const;
  CpuSet members(const Topology& topology) const;  // all that is granted to anybody
};

struct NodePools {
  std::string base_name = std::string(kDefaultBaseName);
  std::string file = {};         // "": none applies to this node, so nothing is done
  std::vector<Pool> pools = {};  // by name
  CpuSet default_cpus = {};      // of containers without pool; empty: they are left alone
  bool default_is_explicit = false;

  bool idle() const { return file.empty(); }

  const Pool* find(std::string_view name) const;

  std::string resource(const Pool& pool) const { return base_name + "/" + pool.name; }
};

}  // namespace plim::pools
