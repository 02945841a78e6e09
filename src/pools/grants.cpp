#include "pools/grants.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::pools {

std::string format_cpus(const CpuSet& cpus, CpuListFormat format) {
  if (format == CpuListFormat::ranges) return cpus.to_string();
  return fmt::format("{}", fmt::join(cpus.begin(), cpus.end(), ","));
}

std::string pool_variable(std::string_view prefix, std::string_view pool) {
  std::string out(prefix);
  for (char c : pool) {
    if (c >= 'a' && c <= 'z')
      out += static_cast<char>(c - 'a' + 'A');
    else
      out += is_digit(c) || (c >= 'A' && c <= 'Z') ? c : '_';
  }
  return out;
}

node::DeviceGrants grants_of(const Pool& pool, const CpuSet& cpus, const Topology& topology,
                             CpuListFormat format) {
  node::DeviceGrants out;
  const std::string text = format_cpus(cpus, format);
  out.env.emplace_back(pool.type == PoolType::shared ? "SHARED_CPUS" : "EXCLUSIVE_CPUS", text);
  // The kubelet keeps only one value per name: containers with two pools need names per pool.
  out.env.emplace_back(pool_variable("PLIMSOLL_CPUS_", pool.name), text);
  if (pool.type == PoolType::shared) {
    out.env.emplace_back(pool_variable("PLIMSOLL_SHARED_", pool.name), "1");
  } else {
    std::set<int> nodes;
    for (int cpu : cpus) nodes.insert(topology.numa(cpu));
    out.env.emplace_back("PLIMSOLL_NUMA_NODES", fmt::format("{}", fmt::join(nodes, ",")));
  }
  return out;
}

}  // namespace plim::pools
