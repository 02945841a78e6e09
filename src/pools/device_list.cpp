#include "pools/device_list.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "pools/device_ids.hpp"
#include "pools/packing.hpp"

namespace plim::pools {
namespace {

// A device with its NUMA node takes up to 24 bytes of a message of 4 MiB.
constexpr int kMostWithPlace = 170'000;

}  // namespace

std::vector<node::Device> devices_of(const PoolState& state, std::string_view name) {
  std::vector<node::Device> out;
  const Pool* pool = state.pools().find(name);
  if (pool != nullptr && pool->type == PoolType::shared) {
    std::set<std::int64_t> nodes;
    for (int cpu : pool->cpus) nodes.insert(state.topology().numa(cpu));
    const bool usable = !state.shared_cpus(*pool).empty();
    const int count = pool->cpus.count() * pool->devices_per_cpu();
    for (std::string& id : shared_ids(count)) {
      node::Device& device = out.emplace_back(node::Device{.id = std::move(id), .healthy = usable});
      if (nodes.size() == 1 && count <= kMostWithPlace) device.numa_nodes = {*nodes.begin()};
    }
  } else if (pool != nullptr && pool->type == PoolType::exclusive) {
    for (int cpu : pool->cpus) {
      const CpuState cpu_state = state.state_of(*pool, cpu);
      out.push_back({.id = std::to_string(cpu),
                     .healthy = cpu_state == CpuState::free || cpu_state == CpuState::used,
                     .numa_nodes = {state.topology().numa(cpu)}});
    }
  }
  // The kubelet does not restart a container whose device is no longer listed.
  for (int cpu : state.draining_of(name))
    out.push_back({.id = std::to_string(cpu),
                   .healthy = state.topology().online.contains(cpu),
                   .numa_nodes = {state.topology().numa(cpu)}});
  for (const Holding& holding : state.holdings())
    if (holding.pool == name)
      for (const std::string& id : holding.unit_ids) out.push_back({.id = id, .healthy = true});
  return out;
}

std::vector<std::string> endpoints_of(const PoolState& state) {
  std::set<std::string> out;
  for (const Pool& pool : state.pools().pools)
    if (pool.advertised()) out.insert(pool.name);
  for (const Holding& holding : state.holdings())
    if (!holding.unit_ids.empty() || (!holding.found && !state.draining_of(holding.pool).empty()))
      out.insert(holding.pool);
  return {out.begin(), out.end()};
}

std::string shared_list_key(const PoolState& state, std::string_view name) {
  const Pool* pool = state.pools().find(name);
  if (pool == nullptr || pool->type != PoolType::shared) return {};
  const CpuSet draining = state.draining_of(name);
  return fmt::format("{} {} {} {}", state.configurations(), !state.shared_cpus(*pool).empty(),
                     draining.to_string(), (draining & state.topology().online).to_string());
}

node::DeviceIds preferred_devices(const PoolState& state, std::string_view name,
                                  const node::PreferredRequest& request) {
  const Pool* pool = state.pools().find(name);
  const auto size = static_cast<std::size_t>(std::max(0, request.size));
  if (pool == nullptr || pool->type != PoolType::exclusive) {
    node::DeviceIds out = request.must_include;
    std::set<std::string_view> taken(out.begin(), out.end());
    for (const std::string& id : request.available) {
      if (out.size() >= size) break;
      if (taken.insert(id).second) out.push_back(id);
    }
    return out;
  }
  CpuSet free, must;
  for (const std::string& id : request.available)
    if (auto cpu = cpu_of_id(id)) free.add(*cpu);
  for (const std::string& id : request.must_include)
    if (auto cpu = cpu_of_id(id)) must.add(*cpu);
  node::DeviceIds out;
  for (int cpu : choose_cpus(*pool, state.topology(), free, must, request.size))
    out.push_back(std::to_string(cpu));
  return out;
}

}  // namespace plim::pools
