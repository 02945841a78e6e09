#include "pools/pool.hpp"

#include <algorithm>

namespace plim::pools {

std::string_view type_name(PoolType type) {
  switch (type) {
    case PoolType::exclusive:
      return "exclusive";
    case PoolType::shared:
      return "shared";
    case PoolType::common:
      break;
  }
  return "default";
}

std::string_view policy_name(SmtPolicy policy) {
  switch (policy) {
    case SmtPolicy::single:
      return "singleThreaded";
    case SmtPolicy::multi:
      return "multiThreaded";
    case SmtPolicy::none:
      break;
  }
  return "none";
}

CpuSet Pool::granted(int cpu, const Topology& topology) const {
  if (type == PoolType::exclusive && smt == SmtPolicy::multi) return topology.siblings(cpu);
  return CpuSet{cpu};
}

CpuSet Pool::claimed(int cpu, const Topology& topology) const {
  if (type != PoolType::exclusive || smt == SmtPolicy::none) return CpuSet{cpu};
  if (smt == SmtPolicy::multi) return topology.siblings(cpu);
  // Old configurations list all threads of a core; then each thread is allocated alone.
  CpuSet out = topology.siblings(cpu) - cpus;
  out.add(cpu);
  return out;
}

CpuSet Pool::members(const Topology& topology) const {
  if (type != PoolType::exclusive || smt != SmtPolicy::multi) return cpus;
  return topology.siblings_of(cpus);
}

const Pool* NodePools::find(std::string_view name) const {
  auto found = std::ranges::find(pools, name, &Pool::name);
  return found == pools.end() ? nullptr : &*found;
}

}  // namespace plim::pools
