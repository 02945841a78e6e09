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

std::string BaseNames::pool_of(std::string_view resource) const {
  const std::size_t slash = resource.find('/');
  if (slash == resource.npos || slash + 1 == resource.size()) return {};
  const std::string_view base = resource.substr(0, slash);
  if (base == current) return std::string(resource.substr(slash + 1));
  return former.contains(base) ? std::string(resource) : std::string();
}

std::string BaseNames::resource_of(std::string_view pool) const {
  if (pool.find('/') != pool.npos) return std::string(pool);
  return current + "/" + std::string(pool);
}

const Pool* NodePools::find(std::string_view name) const {
  auto found = std::ranges::find(pools, name, &Pool::name);
  return found == pools.end() ? nullptr : &*found;
}

}  // namespace plim::pools
