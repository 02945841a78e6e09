#include "pools/pool_state.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "pools/device_ids.hpp"

namespace plim::pools {
namespace {

// Between Allocate and its own record of it, the kubelet writes its checkpoint once.
constexpr Nanos kPendingKept = std::chrono::seconds(30);

std::string key_of(const Holding& holding, int cpu) {
  return fmt::format("{}|{}|{}|{}", holding.pod.empty() ? holding.uid : holding.pod,
                     holding.container, holding.pool, cpu);
}

}  // namespace

std::string_view state_name(CpuState state) {
  switch (state) {
    case CpuState::free:
      return "free";
    case CpuState::used:
      return "used";
    case CpuState::draining:
      return "draining";
    case CpuState::withheld:
      return "withheld";
    case CpuState::offline:
      break;
  }
  return "offline";
}

bool PoolState::is_configured(std::string_view pool, int cpu) const {
  const Pool* found = pools_.find(pool);
  return found != nullptr && found->type == PoolType::exclusive && found->cpus.contains(cpu);
}

PoolState::Share PoolState::share_of(const Holding& holding, int cpu) const {
  auto known = shares_.find(key_of(holding, cpu));
  if (known != shares_.end()) return known->second;
  if (is_configured(holding.pool, cpu)) {
    const Pool* pool = pools_.find(holding.pool);
    return {pool->granted(cpu, topology_), pool->claimed(cpu, topology_)};
  }
  return {CpuSet{cpu}, CpuSet{cpu}};
}

void PoolState::remember() {
  std::map<std::string, Share> now;
  held_.clear();
  claimed_ = {};
  for (std::size_t i = 0; i < holdings_.size(); ++i)
    for (int cpu : holdings_[i].cpus) {
      Share share = share_of(holdings_[i], cpu);
      now.emplace(key_of(holdings_[i], cpu), share);
      claimed_ |= share.claimed;
      held_.push_back({i, cpu, std::move(share)});
    }
  shares_ = std::move(now);
}

// Renames what is held and pending, so that each keeps the CPUs that it got.
void PoolState::change_base(const std::string& base) {
  if (base == bases_.current) return;
  const std::string old = std::exchange(bases_.current, base);
  bases_.former.insert(old);
  bases_.former.erase(base);
  const auto renamed = [&](const std::string& pool) {
    return bases_.pool_of(BaseNames{.current = old}.resource_of(pool));
  };
  for (Holding& holding : holdings_) holding.pool = renamed(holding.pool);
  shares_.clear();
  for (const Held& held : held_)
    shares_.emplace(key_of(holdings_[held.holding], held.cpu), held.share);
  std::map<std::pair<std::string, int>, Pending> pending;
  for (auto& [key, value] : pending_)
    pending.emplace(std::pair(renamed(key.first), key.second), std::move(value));
  pending_ = std::move(pending);
}

void PoolState::add_former_base(std::string base) {
  if (base != bases_.current) bases_.former.insert(std::move(base));
}

void PoolState::configure(NodePools pools, Topology topology) {
  remember();
  // Not siblings that stay idle: containers of a shared pool may run there.
  CpuSet before = claims();
  for (const Pool& pool : pools_.pools)
    if (pool.type == PoolType::exclusive) before |= pool.cpus;
  if (configurations_ == 0) bases_.current = pools.base_name;
  change_base(pools.base_name);
  pools_ = std::move(pools);
  topology_ = std::move(topology);
  for (const Pool& pool : pools_.pools)
    if (pool.type == PoolType::exclusive) once_exclusive_.insert(pool.name);
  intruded_ |= guarded() - before;
  ++configurations_;
}

void PoolState::set_online(const CpuSet& online) {
  topology_.online = online;
}

void PoolState::set_holdings(std::vector<Holding> holdings, SteadyTime now) {
  holdings_ = std::move(holdings);
  for (Holding& holding : holdings_) {
    // Shared pools of CPU-Pooler have numbers as device IDs.
    const Pool* pool = pools_.find(bare_name(holding.pool));
    if (pool != nullptr && pool->type == PoolType::shared && !once_exclusive_.contains(pool->name))
      holding.cpus = {};
    if (const Pool* same = pools_.find(holding.pool); same && same->type == PoolType::shared)
      holding.unit_ids.clear();
    for (int cpu : holding.cpus)
      if (!holding.found) pending_.erase({holding.pool, cpu});
  }
  std::erase_if(pending_, [&](const auto& item) { return now - item.second.since > kPendingKept; });
  remember();
}

void PoolState::keep_pending(SteadyTime now) {
  for (auto& [key, pending] : pending_) pending.since = now;
}

void PoolState::clear(const CpuSet& intruded) {
  intruded_ = intruded & guarded();
}

CpuSet PoolState::pending_claims() const {
  CpuSet out;
  for (const auto& [key, pending] : pending_) out |= pending.claimed;
  return out;
}

CpuSet PoolState::claims() const {
  return pending_claims() | claimed_;
}

CpuSet PoolState::claimed_by_others(std::string_view uid, std::string_view pod) const {
  CpuSet out = pending_claims();
  for (const Held& held : held_) {
    const Holding& holding = holdings_[held.holding];
    const bool same = uid.empty() || holding.uid.empty() ? holding.pod == pod : holding.uid == uid;
    if (!same) out |= held.share.claimed;
  }
  return out;
}

CpuSet PoolState::unclaimed() const {
  CpuSet out = pools_.default_cpus;
  for (const Pool& pool : pools_.pools) out |= pool.members(topology_);
  return (out & topology_.online) - claims();
}

CpuSet PoolState::exclusive_members() const {
  CpuSet out = claims();
  for (const Pool& pool : pools_.pools)
    if (pool.type == PoolType::exclusive) out |= pool.members(topology_);
  return out;
}

CpuSet PoolState::guarded() const {
  CpuSet out = exclusive_members();
  for (const Pool& pool : pools_.pools)
    if (pool.type == PoolType::exclusive)
      for (int cpu : pool.cpus) out |= pool.claimed(cpu, topology_);
  return out;
}

CpuSet PoolState::shared_cpus(const Pool& pool) const {
  return (pool.cpus & topology_.online) - claims();
}

CpuSet PoolState::default_cpus() const {
  return (pools_.default_cpus & topology_.online) - claims();
}

CpuSet PoolState::granted(const Holding& holding) const {
  CpuSet out;
  for (int cpu : holding.cpus) out |= share_of(holding, cpu).granted;
  return out & topology_.online;
}

CpuSet PoolState::draining_of(std::string_view pool) const {
  CpuSet out;
  for (const Holding& holding : holdings_)
    if (holding.pool == pool && !holding.found)
      for (int cpu : holding.cpus)
        if (!is_configured(pool, cpu)) out.add(cpu);
  for (const auto& [key, pending] : pending_)
    if (key.first == pool && !is_configured(pool, key.second)) out.add(key.second);
  return out;
}

CpuState PoolState::state_of(const Pool& pool, int cpu) const {
  if (!topology_.online.contains(cpu)) return CpuState::offline;
  CpuState out = pending_.contains({pool.name, cpu}) ? CpuState::used : CpuState::free;
  const CpuSet wanted = pool.claimed(cpu, topology_);
  if (intruded_.intersects(pool.granted(cpu, topology_))) return CpuState::withheld;
  for (const Held& held : held_) {
    const Holding& holding = holdings_[held.holding];
    const bool mine = holding.pool == pool.name && held.cpu == cpu;
    if (mine && !holding.found) {
      out = CpuState::used;
      continue;
    }
    // If both threads of a core are listed, two containers may have them, unless one had to stay
    // idle when the other was allocated.
    const bool neighbour = holding.pool == pool.name && pool.cpus.contains(held.cpu) &&
                           !held.share.claimed.intersects(pool.granted(cpu, topology_));
    if (neighbour && !mine) continue;
    if (held.share.claimed.intersects(wanted)) return CpuState::withheld;
  }
  for (const auto& [key, pending] : pending_)
    if (key.first != pool.name && pending.claimed.intersects(wanted)) return CpuState::withheld;
  // A holder keeps its CPU, but a CPU is not allocated next to a thread in use.
  if (out == CpuState::free && intruded_.intersects(wanted)) return CpuState::withheld;
  return out;
}

CpuSet PoolState::free_cpus(const Pool& pool) const {
  CpuSet out;
  for (int cpu : pool.cpus)
    if (state_of(pool, cpu) == CpuState::free) out.add(cpu);
  return out;
}

Result<CpuSet> PoolState::allocate(std::string_view name, const node::DeviceIds& ids,
                                   SteadyTime now) {
  const Pool* pool = pools_.find(name);
  if (pool == nullptr || !pool->advertised())
    return fail(Code::invalid, fmt::format("pool {} is no longer configured", name));
  if (pool->type == PoolType::shared) {
    for (const std::string& id : ids)
      if (cpu_of_id(id))
        return fail(Code::invalid, fmt::format("pool {} has no device {}", name, quote(id)));
    CpuSet usable = shared_cpus(*pool);
    if (usable.empty())
      return fail(Code::invalid,
                  fmt::format("no CPU of pool {} ({}) is free: they are offline, or containers "
                              "that had them from another pool still hold them",
                              name, pool->cpus.to_string()));
    return usable;
  }
  CpuSet out, listed;
  for (const std::string& id : ids) {
    const auto cpu = cpu_of_id(id);
    if (!cpu || !pool->cpus.contains(*cpu))
      return fail(Code::invalid, fmt::format("CPU {} is not in pool {}", quote(id), name));
    const CpuState state = state_of(*pool, *cpu);
    if (state != CpuState::free && state != CpuState::used)
      return fail(Code::invalid,
                  fmt::format("CPU {} of pool {} is {}", id, name, state_name(state)));
    if (listed.contains(*cpu))
      return fail(Code::invalid,
                  fmt::format("CPU {} of pool {} is requested for two containers", id, name));
    listed.add(*cpu);
    out |= pool->granted(*cpu, topology_);
  }
  for (const std::string& id : ids) {
    const int cpu = *cpu_of_id(id);
    pending_[{pool->name, cpu}] = {pool->claimed(cpu, topology_), now};
  }
  return out;
}

}  // namespace plim::pools
