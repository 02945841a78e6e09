#include "pools/cpuset_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

namespace plim::pools {
namespace {

bool holds(const Holding& holding, const LiveContainer& container) {
  if (container.container.empty() || holding.container != container.container) return false;
  if (!holding.uid.empty() && !container.uid.empty()) return holding.uid == container.uid;
  return !holding.pod.empty() && holding.pod == container.pod;
}

const Pool* exclusive_pool(const PoolState& state, const std::string& name) {
  const Pool* pool = state.pools().find(bare_name(name));
  return pool != nullptr && pool->type == PoolType::exclusive ? pool : nullptr;
}

bool asks_for_exclusive(const PoolState& state, const LiveContainer& container) {
  return std::ranges::any_of(container.pools, [&](const std::string& name) {
    return exclusive_pool(state, name) != nullptr;
  });
}

// Whether containers of other pods run on these CPUs only. Then the CPUs are not exclusive: all
// these containers wait there for their pools.
bool others_wait_on(const CpuSet& cpus, const LiveContainer& container,
                    const std::vector<LiveContainer>& containers) {
  return std::ranges::any_of(containers, [&](const LiveContainer& other) {
    return other.uid != container.uid && !other.actual.empty() && other.actual.is_subset_of(cpus);
  });
}

// Derives a holding from the container itself.
std::vector<Holding> guess(const PoolState& state, const LiveContainer& container,
                           const std::vector<LiveContainer>& containers) {
  CpuSet shared, members;
  for (const std::string& name : container.pools)
    if (const Pool* pool = state.pools().find(bare_name(name)); pool != nullptr) {
      if (pool->type == PoolType::shared) shared |= pool->cpus;
      if (pool->type == PoolType::exclusive) members |= pool->members(state.topology());
    }
  const CpuSet claim = container.told.value_or(container.actual) - shared;
  std::vector<Holding> out;
  if (claim.empty() || !claim.is_subset_of(members)) return out;
  if (!container.told && others_wait_on(claim, container, containers)) return out;
  for (const std::string& name : container.pools) {
    const Pool* pool = exclusive_pool(state, name);
    if (pool == nullptr || !pool->cpus.intersects(claim)) continue;
    Holding holding{
        .pod = container.pod, .uid = container.uid, .container = container.container, .pool = name};
    holding.cpus = pool->cpus & claim;
    out.push_back(std::move(holding));
  }
  return out;
}

// Sets that are the same for all containers of one check.
struct CommonSets {
  explicit CommonSets(const PoolState& state) : everybodys(state.default_cpus()) {
    for (const Pool& pool : state.pools().pools)
      if (pool.type == PoolType::shared) shared[pool.name] = state.shared_cpus(pool);
  }

  CpuSet everybodys;
  std::map<std::string, CpuSet, std::less<>> shared;
};

// Why a shared pool has no CPU for its containers.
Note lost_pool(const PoolState& state, std::size_t index, std::string_view name) {
  const Pool& pool = *state.pools().find(name);
  if ((pool.cpus & state.topology().online).empty())
    return {Note::Kind::pool_lost, index,
            fmt::format("no CPU of shared pool {} is online; it runs with containers without a "
                        "pool",
                        name)};
  return {Note::Kind::pool_held, index,
          fmt::format("containers that had CPU {} from another pool still hold them; it gets the "
                      "CPUs of shared pool {} when they end",
                      pool.cpus.to_string(), name)};
}

// Where a container runs that cannot have a CPU of its pools now. Empty: every CPU has an owner.
CpuSet refuge_of(const PoolState& state, const LiveContainer& container) {
  const CpuSet unclaimed = state.unclaimed();
  const CpuSet kept = container.actual & unclaimed;
  return kept.empty() ? unclaimed : kept;
}

CpusetTarget target_of(const PoolState& state, const CommonSets& sets,
                       const LiveContainer& container, std::size_t index,
                       std::vector<Note>& notes) {
  CpusetTarget out;
  CpuSet held;
  for (const Holding& holding : state.holdings()) {
    if (!holds(holding, container)) continue;
    held |= state.granted(holding);
    const CpuSet offline = holding.cpus - state.topology().online;
    if (!offline.empty())
      notes.push_back(
          {Note::Kind::offline, index,
           fmt::format("CPU {} of pool {} is offline", offline.to_string(), holding.pool)});
    if (holding.found && !holding.cpus.empty())
      notes.push_back({Note::Kind::withheld, index,
                       fmt::format("the kubelet has forgotten that it holds CPU {} of pool {}; "
                                   "no other container gets them",
                                   holding.cpus.to_string(), holding.pool)});
  }
  out.cpus = held;
  bool lacks = held.empty() && asks_for_exclusive(state, container);
  for (const std::string& name : container.pools) {
    const auto shared = sets.shared.find(bare_name(name));
    if (shared == sets.shared.end()) continue;
    if (shared->second.empty()) {
      notes.push_back(lost_pool(state, index, shared->first));
      lacks = true;
    }
    out.cpus |= shared->second;
  }
  out.pooled = !out.cpus.empty();
  if (lacks) {
    if (asks_for_exclusive(state, container) && held.empty() && !container.ending)
      notes.push_back({Note::Kind::no_allocation, index,
                       "it requests exclusive CPUs, but there is no record of its CPUs"});
    out.cpus |= sets.everybodys;
  } else if (!out.pooled) {
    out.cpus = sets.everybodys;
  }
  if (!out.cpus.empty()) return out;
  const bool waits = !container.pools.empty() || !state.pools().default_cpus.empty();
  if (waits || container.nameless) out.cpus = refuge_of(state, container);
  out.waits = waits;
  return out;
}

}  // namespace

std::vector<Holding> complete_holdings(const PoolState& state, std::vector<Holding> told,
                                       const std::vector<LiveContainer>& containers,
                                       SteadyTime now) {
  PoolState known = state;
  known.set_holdings(told, now);
  CpuSet taken;
  for (const LiveContainer& container : containers) {
    const auto has = [&](const Holding& holding) {
      return !holding.cpus.empty() && holds(holding, container);
    };
    // The kubelet frees the devices of an ending pod before the last cgroup is removed.
    if (container.pod.empty() || container.ending) continue;
    if (std::ranges::any_of(known.holdings(), has)) continue;
    std::vector<Holding> found;
    std::ranges::copy_if(state.holdings(), std::back_inserter(found), has);
    if (found.empty()) found = guess(state, container, containers);
    CpuSet claim;
    for (const Holding& holding : found) claim |= state.granted(holding);
    if (claim.intersects(taken) ||
        claim.intersects(known.claimed_by_others(container.uid, container.pod)))
      continue;
    taken |= claim;
    for (Holding& holding : found) {
      holding.found = true;
      told.push_back(std::move(holding));
    }
  }
  return told;
}

CpusetPlan plan_cpusets(const PoolState& state, const std::vector<LiveContainer>& containers) {
  CpusetPlan out;
  const CommonSets sets(state);
  out.targets.reserve(containers.size());
  for (std::size_t i = 0; i < containers.size(); ++i)
    out.targets.push_back(target_of(state, sets, containers[i], i, out.notes));
  return out;
}

CpuSet intruded_cpus(const std::vector<CpuSet>& actual, const std::vector<CpusetTarget>& targets,
                     const CpuSet& exclusive) {
  CpuSet out;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (targets[i].waits)
      out |= actual[i];
    else if (!targets[i].cpus.empty())
      out |= actual[i] - targets[i].cpus;
  }
  return out & exclusive;
}

std::vector<std::string> double_bookings(const PoolState& state,
                                         const std::vector<LiveContainer>& containers,
                                         const std::vector<CpuSet>& actual,
                                         const std::vector<CpusetTarget>& targets) {
  std::vector<std::string> out;
  for (const Holding& holding : state.holdings()) {
    const CpuSet owned = state.granted(holding);
    for (std::size_t i = 0; i < containers.size() && !owned.empty(); ++i) {
      const LiveContainer& other = containers[i];
      const bool same_pod = holding.uid.empty() || other.uid.empty() ? holding.pod == other.pod
                                                                     : holding.uid == other.uid;
      const bool left_alone = targets[i].cpus.empty() && !targets[i].waits;
      const CpuSet both = owned & actual[i];
      if (same_pod || left_alone || both.empty()) continue;
      out.push_back(fmt::format("CPU {} of pool {} belongs to {}/{}, but {}/{} runs on it too",
                                both.to_string(), holding.pool,
                                holding.pod.empty() ? holding.uid : holding.pod, holding.container,
                                other.pod.empty() ? other.uid : other.pod,
                                other.container.empty() ? "(sandbox)" : other.container));
    }
  }
  return out;
}

std::vector<CpusetWrite> order_writes(const std::vector<CpuSet>& actual,
                                      const std::vector<CpusetTarget>& targets,
                                      const CpuSet& exclusive, const std::vector<bool>& refused) {
  std::vector<CpusetWrite> out;
  const auto can_write = [&](std::size_t i) {
    return !targets[i].cpus.empty() && (refused.empty() || !refused[i]);
  };
  // First containers give up CPUs they do not own, if some of their own are left.
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const CpuSet kept = actual[i] & targets[i].cpus;
    if (can_write(i) && kept != actual[i] && !kept.empty()) out.push_back({i, kept});
  }
  if (!out.empty()) return out;
  // CPUs that a container still uses and should not. A container's own target has none of those
  // that it intrudes on itself.
  const CpuSet intruded = intruded_cpus(actual, targets, exclusive);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!can_write(i) || actual[i] == targets[i].cpus) continue;
    const CpuSet safe = targets[i].waits ? targets[i].cpus : targets[i].cpus - intruded;
    if (!safe.empty() && safe != actual[i]) out.push_back({i, safe});
  }
  return out;
}

}  // namespace plim::pools
