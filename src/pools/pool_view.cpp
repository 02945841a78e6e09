#include "pools/pool_view.hpp"

#include <algorithm>

#include "pools/device_list.hpp"
#include "pools/packing.hpp"

namespace plim::pools {
namespace {

constexpr const char* kRest = "(rest)";
constexpr int kMillis = 1000;

void add_holders(const PoolState& state, PoolView& view, int unit) {
  for (const Holding& holding : state.holdings()) {
    if (holding.pool != view.name) continue;
    PoolHolder holder{.pod = holding.pod.empty() ? holding.uid : holding.pod,
                      .container = holding.container,
                      .cpus = state.granted(holding)};
    holder.units = holding.units * unit;
    view.millis_used += holder.units;
    view.holders.push_back(std::move(holder));
  }
  std::ranges::sort(view.holders, [](const PoolHolder& a, const PoolHolder& b) {
    return std::tie(a.pod, a.container) < std::tie(b.pod, b.container);
  });
}

PoolView empty_view(std::string name, PoolType type) {
  PoolView out;
  out.name = std::move(name);
  out.type = type;
  for (CpuState state :
       {CpuState::free, CpuState::used, CpuState::draining, CpuState::withheld, CpuState::offline})
    out.by_state[state] = {};
  return out;
}

json::object states_of(const PoolView& view) {
  json::object out;
  for (const auto& [state, cpus] : view.by_state) out[state_name(state)] = cpus.to_string();
  return out;
}

// One character for each CPU: its holder, or its state.
std::string cell_of(const PoolState& state, const std::vector<PoolView>& views, int cpu,
                    const std::map<std::string, char>& letters, const CpuSet& foreign) {
  if (!state.topology().online.contains(cpu)) return "x";
  if (foreign.contains(cpu)) return "!";
  for (const PoolView& view : views)
    for (const PoolHolder& holder : view.holders)
      if (holder.cpus.contains(cpu) && view.type == PoolType::exclusive)
        return std::string(1, letters.at(holder.pod + "/" + holder.container));
  for (const PoolView& view : views) {
    if (view.type == PoolType::exclusive && view.cpus.contains(cpu)) return "E";
    if (view.type == PoolType::shared && view.cpus.contains(cpu)) return "s";
    if (view.type == PoolType::common && view.cpus.contains(cpu)) return ".";
  }
  return "-";
}

std::map<std::string, char> letters_of(const std::vector<PoolView>& views) {
  constexpr std::string_view kLetters = "ABCDFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrtuvwyz";
  std::map<std::string, char> out;
  for (const PoolView& view : views) {
    if (view.type != PoolType::exclusive) continue;
    for (const PoolHolder& holder : view.holders)
      out.try_emplace(holder.pod + "/" + holder.container, kLetters[out.size() % kLetters.size()]);
  }
  return out;
}

json::array holders_of(const PoolView& view, const std::map<std::string, char>& letters) {
  json::array out;
  for (const PoolHolder& holder : view.holders) {
    json::object item{{"pod", holder.pod}, {"container", holder.container}};
    if (view.type == PoolType::exclusive) {
      item["cpus"] = holder.cpus.to_string();
      item["letter"] = std::string(1, letters.at(holder.pod + "/" + holder.container));
    } else {
      item["millis"] = holder.units;
    }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

std::vector<PoolView> view_pools(const PoolState& state) {
  std::vector<PoolView> out;
  for (const Pool& pool : state.pools().pools) {
    PoolView view = empty_view(pool.name, pool.type);
    view.cpus = pool.cpus;
    if (pool.type == PoolType::exclusive) {
      for (int cpu : pool.cpus) view.by_state[state.state_of(pool, cpu)].add(cpu);
      const CpuSet& free = view.by_state[CpuState::free];
      if (!free.empty())
        view.fragmentation =
            1.0 - static_cast<double>(largest_on_one_node(state.topology(), free)) / free.count();
    } else {
      view.usable = pool.type == PoolType::shared ? state.shared_cpus(pool) : state.default_cpus();
    }
    if (pool.type == PoolType::shared) view.millis = pool.cpus.count() * kMillis;
    add_holders(state, view, pool.shared_unit);
    out.push_back(std::move(view));
  }
  for (const std::string& name : endpoints_of(state)) {
    const CpuSet draining = state.draining_of(name);
    if (draining.empty()) continue;
    auto found = std::ranges::find(out, name, &PoolView::name);
    if (found == out.end()) {
      PoolView view = empty_view(name, PoolType::exclusive);
      add_holders(state, view, 1);
      found = out.insert(out.end(), std::move(view));
    }
    found->by_state[CpuState::draining] |= draining;
  }
  if (!state.pools().default_is_explicit && !state.pools().default_cpus.empty()) {
    PoolView rest = empty_view(kRest, PoolType::common);
    rest.cpus = state.pools().default_cpus;
    rest.usable = state.default_cpus();
    out.push_back(std::move(rest));
  }
  return out;
}

json::value describe_pools(const PoolState& state, const std::string& node,
                           const std::vector<ForeignProcess>& foreign) {
  const std::vector<PoolView> views = view_pools(state);
  const auto letters = letters_of(views);
  json::array pools, cpus, strangers;
  CpuSet intruded;
  for (const ForeignProcess& process : foreign) {
    intruded |= process.cpus;
    strangers.push_back(json::object{
        {"pid", process.pid}, {"name", process.name}, {"cpus", process.cpus.to_string()}});
  }
  for (const PoolView& view : views) {
    json::object item{
        {"name", view.name}, {"type", type_name(view.type)}, {"cpus", view.cpus.to_string()}};
    if (view.type == PoolType::exclusive) {
      item["states"] = states_of(view);
      item["fragmentation"] = view.fragmentation;
    } else {
      item["usable"] = view.usable.to_string();
    }
    if (view.type == PoolType::shared) {
      item["millis"] = view.millis;
      item["millisUsed"] = view.millis_used;
    }
    if (view.type != PoolType::common) {
      item["resource"] = state.base_names().resource_of(view.name);
      item["holders"] = holders_of(view, letters);
    }
    pools.push_back(std::move(item));
  }
  for (int cpu : state.topology().present)
    cpus.push_back(json::object{{"cpu", cpu},
                                {"numa", state.topology().numa(cpu)},
                                {"l3", state.topology().l3(cpu)},
                                {"cell", cell_of(state, views, cpu, letters, intruded)}});
  return json::object{{"node", node},
                      {"file", state.pools().file},
                      {"pools", std::move(pools)},
                      {"cpus", std::move(cpus)},
                      {"foreign", std::move(strangers)}};
}

json::value report_pools(const PoolState& state) {
  json::object out;
  for (const PoolView& view : view_pools(state)) {
    if (view.type == PoolType::common) continue;
    json::object item{{"type", type_name(view.type)}};
    json::object free;
    if (view.type == PoolType::exclusive) {
      std::map<int, int> by_numa, by_l3;
      for (int cpu : view.cpus)
        by_numa[state.topology().numa(cpu)], by_l3[state.topology().l3(cpu)];
      for (int cpu : view.by_state.at(CpuState::free))
        ++by_numa[state.topology().numa(cpu)], ++by_l3[state.topology().l3(cpu)];
      json::object caches;
      for (const auto& [numa, count] : by_numa) free[std::to_string(numa)] = count;
      for (const auto& [l3, count] : by_l3) caches[std::to_string(l3)] = count;
      item["size"] = view.cpus.count();
      item["freeL3"] = std::move(caches);
      item["draining"] = view.by_state.at(CpuState::draining).count();
      item["withheld"] = view.by_state.at(CpuState::withheld).count();
      item["offline"] = view.by_state.at(CpuState::offline).count();
      json::array holders;
      for (const PoolHolder& holder : view.holders)
        holders.push_back(json::object{{"cpus", holder.cpus.to_string()},
                                       {"pod", holder.pod},
                                       {"container", holder.container}});
      item["holders"] = std::move(holders);
    } else {
      const int left = std::max(0, view.millis - view.millis_used);
      const int numa = view.cpus.empty() ? 0 : state.topology().numa(view.cpus.first());
      free[std::to_string(numa)] = left;
      item["size"] = view.millis;
      item["draining"] = 0;
      item["withheld"] = 0;
      item["offline"] = (view.cpus - state.topology().online).count() * kMillis;
    }
    item["free"] = std::move(free);
    out[view.name] = std::move(item);
  }
  return out;
}

}  // namespace plim::pools
